import Core
import Records
import Screen

/// What an approval asks for, of the backend's object: what would be done, and where. Words about
/// it, which a model may have written, are not looked at.
public struct Asked {
  private let request: JSONValue?

  /// Where the arguments of a call stand: of OpenClaw and Codex, of a Claude hook, of ACP, of a
  /// Pincer server.
  private static let inner = [
    "tool_input", "toolInput", "rawInput", "input", "arguments", "args", "params", "preview",
  ]
  private static let (words, commands) = (
    ["commandArgv", "argv", "command"], ["command", "cmd", "script", "code"]
  )
  private static let places = ["cwd", "workdir", "directory"]

  /// - Parameter request: the member of the approval.
  public init(_ request: [UInt8]) {
    self.request = try? JSONValue.parse(request)
  }

  /// The command; of a call without one its arguments; of questions all that may be chosen; nil
  /// where the request says neither.
  public var text: String? {
    guard let request else { return nil }
    let questions = AskedQuestion.all(in: request)
    if !questions.isEmpty { return questions.map(Self.lines).joined(separator: "\n") }
    let arguments = Self.inner.compactMap { request[$0] }.first { $0.isObject && $0.count > 0 }
    for object in [arguments, request].compactMap(\.self) {
      let words = Self.words.compactMap { object[$0] }.first { $0.kind == .array && $0.count > 0 }
        .map { $0.elements.compactMap(\.string) }
      let text = Self.commands.compactMap { object[$0]?.string }.first { !$0.isEmpty }
      guard let words, !words.isEmpty else {
        if let text { return text }
        continue
      }
      let line = ShellText.line(words)
      // Where both are given and differ, which one counts is not said.
      guard let text, text != line, text != words.joined(separator: " ") else { return line }
      return "\(line)\n\(text)"
    }
    return arguments.map { Brief.text($0, limit: 4096) }
  }

  private static func lines(_ question: AskedQuestion) -> String {
    let choices = question.choices.enumerated().map { index, choice in
      "\(index + 1) \(choice.label)" + (choice.description.map { ": \($0)" } ?? "")
    }
    return ([question.text] + choices).joined(separator: "\n")
  }

  /// Who asks, where a person asks back by that name: an agent's id.
  var agent: String? { request?["agentId"]?.string }

  /// The last name of the folder it would be done in.
  var place: String? {
    let path = Self.places.compactMap { request?[$0]?.string }.first
    return path?.split(separator: "/").last.map(String.init)
  }
}
