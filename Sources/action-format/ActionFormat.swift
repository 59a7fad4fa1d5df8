import Core

@main
enum ActionFormat {
  static func main() {
  }
}
