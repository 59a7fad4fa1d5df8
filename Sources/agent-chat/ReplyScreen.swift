import Agent
import Core
import Records
import Screen

/// What a terminal is shown of a turn, piece by piece: the text as it grows, and a dim line
/// for each thing that is done meanwhile. No files, no clock.
struct ReplyScreen {
  private let depth: ColourDepth
  private var text = StreamedText()
  private var message: String?
  private var isLineOpen = false
  private var calls: [String: ToolCallRecord.State] = [:]
  private var approvals: [String: ApprovalRecord.State] = [:]

  /// More of a name or label says nothing more, scalars.
  private static let longest = 200
  private static let mostCalls = 1000

  init(depth: ColourDepth) { self.depth = depth }

  /// What is to be written for something that came.
  mutating func receive(_ news: ChatNews, width: Int?) -> String {
    switch news {
    case .message(let message) where message.role == .assistant: return receive(message)
    case .message, .ambient, .thread: return ""
    case .toolCall(let call): return receive(call).map { note($0, width) } ?? ""
    case .approval(let approval): return receive(approval).map { note($0, width) } ?? ""
    case .turn(let turn):
      return turn.state == .paused ? note("paused: \(turn.reason ?? "waits")", width) : ""
    }
  }

  mutating func breakLine() -> String {
    defer { isLineOpen = false }
    return isLineOpen ? "\n" : ""
  }

  private mutating func receive(_ message: MessageRecord) -> String {
    var out = ""
    if let last = self.message, last != message.id, !text.isBeginning(of: message.text) {
      // Another message of the turn.
      out += breakLine()
      text = StreamedText()
    }
    self.message = message.id
    switch text.receive(message.text, isWhole: message.state != .partial) {
    case .more(let piece): out += show(piece)
    case .replaced(let piece):
      out += note("replaced by:", nil)
      out += show(piece)
    }
    return out
  }

  private mutating func show(_ piece: String) -> String {
    if let last = piece.utf8.last { isLineOpen = last != 10 }
    return piece
  }

  private mutating func note(_ words: String, _ width: Int?) -> String {
    let line = Line("· " + Plain.line(words, limit: 2 * Self.longest), .dim)
    return breakLine() + line.render(width: width, depth: depth) + "\n"
  }

  private mutating func receive(_ call: ToolCallRecord) -> String? {
    if calls[call.id] == call.state { return nil }
    let isFirst = calls[call.id] == nil
    if isFirst, calls.count >= Self.mostCalls { calls = calls.filter { !$0.value.isEnd } }
    if calls.count >= Self.mostCalls { calls = [:] }
    calls[call.id] = call.state
    // A label may be no more than the name.
    let given = call.label == call.tool ? nil : call.label
    let label = given ?? call.arguments.map(Self.brief) ?? ""
    let name =
      String(call.tool.unicodeScalars.prefix(60))
      + (label.isEmpty ? "" : " " + String(label.unicodeScalars.prefix(Self.longest)))
    let reason = call.reason.map { ": \($0)" } ?? ""
    switch call.state {
    case .planned: return isFirst ? name : nil
    case .running: return isFirst ? name : nil
    case .waitingApproval: return "\(name): waits for an approval"
    case .succeeded: return "\(name): ok"
    case .failed: return "\(name): failed\(reason)"
    case .rejected: return "\(name): not allowed\(reason)"
    }
  }

  private mutating func receive(_ approval: ApprovalRecord) -> String? {
    if approvals[approval.id] == approval.state { return nil }
    if approvals.count >= Self.mostCalls { approvals = approvals.filter { !$0.value.isEnd } }
    if approvals.count >= Self.mostCalls { approvals = [:] }
    approvals[approval.id] = approval.state
    let what = approval.tool + (approval.summary.map { " \($0)" } ?? "")
    let wanted = approval.tool == AskedQuestion.tool ? "an answer" : "an approval"
    return approval.state == .pending
      ? "waits for \(wanted): \(what)" : "\(what): \(approval.state.rawValue)"
  }

  private static func brief(_ arguments: [UInt8]) -> String {
    guard let value = try? JSONValue.parse(arguments) else { return "" }
    return Brief.text(value, limit: longest)
  }
}
