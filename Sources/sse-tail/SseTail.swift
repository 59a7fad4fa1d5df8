import Core

@main
enum SseTail {
  static func main() {
  }
}
