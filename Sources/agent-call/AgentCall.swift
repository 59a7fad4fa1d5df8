import Core

@main
enum AgentCall {
  static let table = OptionTable(
    program: "agent-call",
    summary: "Ask the backend anything, a row per record.",
    synopsis: "[options]",
    options: [])

  static func main() {
    _ = table.parseOrExit()
  }
}
