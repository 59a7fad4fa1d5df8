import CLibc
import Core

/// Names that a shell may offer. The filter talks to nobody: agent-call asks who has them,
/// and gives up where that takes long.
enum AskedNames {
  static let guilds = Completion.live { ask("-g") }
  static let users = Completion.live { ask("-u") }

  private static func ask(_ option: String) -> [String] {
    let words = ["agent-call", "--completions", "words", option, ""]
    guard let child = try? ChildProcess(words, error: .nothing) else { return [] }
    var lines = LineReader(descriptor: child.output)
    var names: [String] = []
    while let line = try? lines.next() { names.append(String(decoding: line.bytes, as: UTF8.self)) }
    return names
  }
}
