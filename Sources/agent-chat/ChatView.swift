import Agent
import CLibc
import Core
import Records
import Screen

/// In a pipe: the final text once, as the agent wrote it, for a gateway may replace what it
/// has streamed.
class ChatView {
  fileprivate let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private var texts = FinalTexts()

  var isScreen: Bool { false }
  final var answer: String { texts.text }

  func begin() { texts = FinalTexts() }

  func receive(_ news: ChatNews) throws(WriteFailure) { texts.receive(news) }

  /// Ends a line that is not whole, before something else is told.
  func breakLine() throws(WriteFailure) {}

  func finish(_ end: ChatEnd) throws(WriteFailure) {
    let text = answer
    if end != .answered || text.isEmpty { return }
    try writer.write(text)
    if text.utf8.last != 10 { try writer.newline() }
    try writer.flush()
  }

  final func flush() throws(WriteFailure) { try writer.flush() }
}

final class RecordView: ChatView {
  private let isTerminal: Bool

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  override func receive(_ news: ChatNews) throws(WriteFailure) {
    try super.receive(news)
    let bytes =
      switch news {
      case .message(let record), .ambient(let record): record.bytes
      case .turn(let record): record.bytes
      case .toolCall(let record): record.bytes
      case .approval(let record): record.bytes
      case .thread(let record): record.bytes
      }
    try write(bytes)
  }

  func write(_ record: [UInt8]) throws(WriteFailure) {
    try writer.write(json: record, isTerminal: isTerminal)
  }

  override func finish(_ end: ChatEnd) throws(WriteFailure) { try flush() }
}

final class ScreenView: ChatView {
  private let depth: ColourDepth
  private var reply: ReplyScreen

  init(depth: ColourDepth) {
    self.depth = depth
    reply = ReplyScreen(depth: depth)
  }

  override var isScreen: Bool { true }

  override func begin() {
    super.begin()
    reply = ReplyScreen(depth: depth)
  }

  override func receive(_ news: ChatNews) throws(WriteFailure) {
    try super.receive(news)
    let width = WindowSize(of: 1).columns
    try writer.write(reply.receive(news, width: width > 0 ? width : nil))
  }

  override func breakLine() throws(WriteFailure) {
    try writer.write(reply.breakLine())
    try flush()
  }

  override func finish(_ end: ChatEnd) throws(WriteFailure) { try breakLine() }
}

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

/// A text that grows, as a terminal shows it: only what is new, escaped by the rules of
/// `VisibleScalars` as if the whole were shown at once; line feeds and tabs stay.
struct StreamedText {
  enum Piece: Equatable {
    /// Goes on where the last ended; may be empty.
    case more(String)
    /// What was shown is not so any more: the whole text.
    case replaced(String)
  }

  private var taken = ""
  private var shown = 0

  /// How far back is looked for what decides how the next scalar is shown.
  private static let context = 1000

  /// Whether a text begins with what was shown.
  func isBeginning(of text: String) -> Bool {
    if shown == 0 || text.utf8.count < shown { return shown == 0 }
    var (mine, other) = (taken, text)
    return mine.withUTF8 { mine in
      other.withUTF8 { memcmp(mine.baseAddress!, $0.baseAddress!, shown) == 0 }
    }
  }

  /// Takes the whole text as it is now.
  mutating func receive(_ text: String, isWhole: Bool) -> Piece {
    let goesOn = isBeginning(of: text)
    taken = text
    if !goesOn { shown = 0 }
    let piece = next(isWhole: isWhole)
    return goesOn ? .more(piece) : .replaced(piece)
  }

  static func visible(_ text: String) -> String {
    var streamed = StreamedText()
    switch streamed.receive(text, isWhole: true) {
    case .more(let piece), .replaced(let piece): return piece
    }
  }

  private mutating func next(isWhole: Bool) -> String {
    let scalars = taken.unicodeScalars
    let start = taken.utf8.index(taken.startIndex, offsetBy: shown)
    var end = scalars.endIndex
    if !isWhole {
      // How these are shown, the scalar behind them decides.
      while end > start, Self.isOpen(scalars[scalars.index(before: end)]) {
        end = scalars.index(before: end)
      }
    }
    guard start < end else { return "" }
    var from = start
    var steps = 0
    while from > scalars.startIndex, steps < Self.context {
      from = scalars.index(before: from)
      steps += 1
      // Nothing in front of a plain letter or a line feed matters behind it.
      if scalars[from].isASCII { break }
    }
    shown = taken.utf8.distance(from: taken.startIndex, to: end)
    return Self.render(
      String(scalars[from..<end]), skipping: scalars.distance(from: from, to: start))
  }

  private static func render(_ text: String, skipping: Int) -> String {
    var out = ""
    var scalars = VisibleScalars(text)
    var number = 0
    var isReturn = false
    while let (scalar, isShown) = scalars.next() {
      number += 1
      if number <= skipping { continue }
      // A line end of two is one.
      if isReturn, scalar != "\n" { out += Visible.escape("\r") }
      isReturn = scalar == "\r"
      if isReturn { continue }
      if isShown || scalar == "\n" || scalar == "\t" {
        out.unicodeScalars.append(scalar)
      } else {
        out += Visible.escape(scalar)
      }
    }
    return isReturn ? out + Visible.escape("\r") : out
  }

  /// Joiners, selectors and a carriage return.
  private static func isOpen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0d, 0x200c, 0x200d, 0x180b...0x180f, 0xfe00...0xfe0f, 0xe0100...0xe01ef: true
    default: false
    }
  }
}
