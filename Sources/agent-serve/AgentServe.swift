import Core

@main
enum AgentServe {
  static func main() {
  }
}
