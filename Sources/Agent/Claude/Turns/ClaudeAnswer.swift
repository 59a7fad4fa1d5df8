public import Core
import Records

/// The line of a transcript of Claude Code with which a turn ends (CONTRACT.md 3 and
/// Agent/Riff/CONTRACT.md 4).
public struct ClaudeAnswer: Sendable {
  /// The line's own id; a session that goes on in another file has it again.
  public let id: String
  /// The session's id; empty where nothing says it.
  public let session: String
  /// What the agent says, in Markdown.
  public let text: String
  /// When; nil where the line does not say.
  public let time: Timestamp?

  /// - Returns: nil for any other line: of a subagent, of somebody else, without a text.
  public init?(_ line: TurnLine) {
    guard line.shape == .own || line.isWrapped,
      ClaudeLine.Kind(line.object) == .assistant, let value = line.value
    else { return nil }
    let entry = ClaudeLine(.assistant, value, line)
    guard !entry.isSide, value["message"]?["stop_reason"]?.string == "end_turn",
      value["isApiErrorMessage"]?.bool != true,
      let text = entry.text, !text.isEmpty, !entry.id.isEmpty
    else { return nil }
    id = entry.id
    session = entry.session ?? ""
    self.text = text
    time = entry.time
  }
}
