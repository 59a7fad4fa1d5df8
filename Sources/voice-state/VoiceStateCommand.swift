import Core

@main
enum VoiceStateCommand {
  static let table = OptionTable(
    program: "voice-state",
    summary: "Show what the agent does in voice, once or live.",
    synopsis: "[options]",
    options: [])

  static func main() {
    _ = table.parseOrExit()
  }
}
