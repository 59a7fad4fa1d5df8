import Agent
import Core
import Records
import Screen

protocol ChatView: AnyObject {
  var isScreen: Bool { get }
  var answer: String { get }
  func begin()
  func receive(_ news: ChatNews) throws(WriteFailure)
  /// Ends a line that is not whole, before something else is told.
  func breakLine() throws(WriteFailure)
  func finish(_ end: ChatEnd) throws(WriteFailure)
  func flush() throws(WriteFailure)
}

/// In a pipe: the final text once, as the agent wrote it, for a gateway may replace what it
/// has streamed.
final class FinalView: ChatView {
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private var texts = FinalTexts()

  var isScreen: Bool { false }
  var answer: String { texts.text }

  func begin() { texts = FinalTexts() }
  func receive(_ news: ChatNews) throws(WriteFailure) { texts.receive(news) }
  func breakLine() throws(WriteFailure) {}

  func finish(_ end: ChatEnd) throws(WriteFailure) {
    let text = answer
    if end != .answered || text.isEmpty { return }
    try writer.write(text)
    if text.utf8.last != 10 { try writer.newline() }
    try writer.flush()
  }

  func flush() throws(WriteFailure) {}
}

final class RecordView: ChatView {
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let isTerminal: Bool
  private var texts = FinalTexts()

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  var isScreen: Bool { false }
  var answer: String { texts.text }

  func begin() { texts = FinalTexts() }

  func receive(_ news: ChatNews) throws(WriteFailure) {
    texts.receive(news)
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

  /// Writes a record; on a terminal so that it obeys nothing of it.
  func write(_ record: [UInt8]) throws(WriteFailure) {
    guard isTerminal else {
      try writer.write(record)
      return try writer.newline()
    }
    var shown = ByteBuffer()
    record.withUnsafeBytes { JSONQuote.appendVisible(json: $0, to: &shown) }
    try writer.writeLine(shown.bytes)
  }

  func breakLine() throws(WriteFailure) {}
  func finish(_ end: ChatEnd) throws(WriteFailure) { try writer.flush() }
  func flush() throws(WriteFailure) { try writer.flush() }
}

final class ScreenView: ChatView {
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private let depth: ColourDepth
  private var reply: ReplyScreen
  private var texts = FinalTexts()

  init(depth: ColourDepth) {
    self.depth = depth
    reply = ReplyScreen(depth: depth)
  }

  var isScreen: Bool { true }
  var answer: String { texts.text }

  func begin() {
    texts = FinalTexts()
    reply = ReplyScreen(depth: depth)
  }

  func receive(_ news: ChatNews) throws(WriteFailure) {
    texts.receive(news)
    let width = WindowSize(of: 1).columns
    try writer.write(reply.receive(news, width: width > 0 ? width : nil))
  }

  func breakLine() throws(WriteFailure) {
    try writer.write(reply.breakLine())
    try writer.flush()
  }

  func finish(_ end: ChatEnd) throws(WriteFailure) { try breakLine() }
  func flush() throws(WriteFailure) { try writer.flush() }
}
