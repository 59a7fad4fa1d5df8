import Core
import Records

/// An event that tells of turns, however it came: as a record of `agent-tail`, or as the
/// gateway's own frame, bare or as a record of `ws-tail` (CONTRACT.md 1).
package struct OpenClawFrame {
  /// What an event is about.
  package enum Kind: Sendable {
    case chat, agent
    case approval(tool: String, isOver: Bool)
    /// A row of a conversation, and rows that were fetched.
    case row, history

    var isRow: Bool { if case .row = self { true } else { false } }
  }

  let kind: Kind
  let payload: ScanValue

  private static let kinds = NameTable<Kind>([
    ("chat", .chat), ("agent", .agent), ("session.tool", .agent),
    ("session.message", .row), ("chat.history", .history),
    ("exec.approval.requested", .approval(tool: "exec", isOver: false)),
    ("exec.approval.resolved", .approval(tool: "exec", isOver: true)),
    ("plugin.approval.requested", .approval(tool: "plugin", isOver: false)),
    ("plugin.approval.resolved", .approval(tool: "plugin", isOver: true)),
    ("question.requested", .approval(tool: "question", isOver: false)),
    ("question.resolved", .approval(tool: "question", isOver: true)),
  ])

  private enum Member: Int, ScanName {
    case type, event, payload
    static let table = NameTable<Member>()
  }

  init?(_ line: TurnLine) {
    if line.isWrapped, !line.eventName.isAbsent {
      guard let kind = Self.kinds.word(line.eventName) else { return nil }
      // What is said of a conversation beside a row looks like an action.
      guard line.shape == .event || kind.isRow else { return nil }
      (self.kind, payload) = (kind, line.object)
      return
    }
    guard line.shape == .own || line.shape == .unmarked || line.isWrapped else { return nil }
    let fields = ScanFields<Member>(line.object.bytes)
    guard fields[.type].isText("event"), let kind = Self.kinds.word(fields[.event]) else {
      return nil
    }
    (self.kind, payload) = (kind, fields[.payload])
  }
}

/// The members of `chat` and `agent` payloads (CONTRACT.md 7).
enum OpenClawField: Int, ScanName {
  case runId, sessionKey, state, deltaText, replace, message, usage, stopReason, errorKind
  case errorMessage, phase, agentId, stream, data, ts, seq

  static let table = NameTable<OpenClawField>()
}
