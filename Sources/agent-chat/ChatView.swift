import Agent
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
    try writer.writeRecord(record, isShown: isTerminal)
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
