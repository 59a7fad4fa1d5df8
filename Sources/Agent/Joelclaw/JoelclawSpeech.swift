import Core
import Records

/// What a gateway streams, as records: messages, by where they end, and tools, by their ids. No
/// frame says for whom it is; that is known by the turn at most. No network, no clock.
struct JoelclawSpeech {
  let origin: RecordOrigin
  /// What the ids of messages begin with.
  let key: String
  /// The conversation.
  var thread: String
  /// Whose what comes is; nil for somebody else's.
  private(set) var turn: String?
  /// The id of the last message that is whole.
  private(set) var last: String?
  /// Whether a piece may be missing of a message.
  private(set) var isTorn = false
  /// Whether it was more than is kept.
  private(set) var isTooLong = false
  /// Whether a message is being said.
  private(set) var isTalking = false
  private var text = ""
  private var count = 0
  /// Bytes and messages since it may be the answer.
  private var (size, number) = (0, 0)
  private var pace = TextPace()
  private var tools: [String: ToolCallRecord] = [:]
  /// The messages since the question was sent, while it is not known whose they are; nil for
  /// somebody else's.
  private var unclaimed: [MessageRecord]?

  /// The most that is kept of one answer: bytes, messages and tools.
  private static let (mostBytes, mostMessages, mostTools) = (64 << 20, 10_000, 1000)

  init(_ origin: RecordOrigin, key: String, thread: String) {
    self.origin = origin
    self.key = key
    self.thread = thread
  }

  // MARK: - Whose it is

  /// What comes from now on may be the answer.
  mutating func mayBegin() {
    unclaimed = []
    (text, isTalking, isTorn, isTooLong) = ("", false, false, false)
    (size, number) = (0, 0)
  }

  /// Whether something came that may be the answer.
  var mayHaveAnswered: Bool { unclaimed?.isEmpty == false }

  /// It is somebody else's.
  mutating func disown() { unclaimed = nil }

  /// What came since `mayBegin`, and what comes, is of a turn.
  mutating func claim(_ turn: String, _ now: Timestamp) -> [ChatNews] {
    self.turn = turn
    var news = (unclaimed ?? []).map { record in
      var record = record
      record.turn = turn
      last = record.id
      return ChatNews.message(record)
    }
    unclaimed = nil
    if isTalking { news += told(.partial, now) }
    return news
  }

  /// A connection was lost, and what was said meanwhile with it.
  mutating func tear() { isTorn = true }

  /// The answer is given again, from its beginning.
  mutating func restart(_ now: Timestamp) -> [ChatNews] {
    let news = isTalking ? told(.aborted, now, "the gateway was restarted") : []
    (text, isTalking, isTorn, last) = ("", false, false, nil)
    tools = [:]
    return news
  }

  // MARK: - What comes

  /// A piece of a message.
  mutating func say(_ delta: String, _ now: Timestamp) -> [ChatNews] {
    if !isTalking {
      count += 1
      number += 1
      (text, pace) = ("", TextPace())
    }
    isTalking = true
    size += delta.utf8.count
    if size > Self.mostBytes || number > Self.mostMessages {
      isTooLong = true
      return []
    }
    text += delta
    return pace.changed(to: text.utf8.count) ? told(.partial, now) : []
  }

  /// The message is whole, or as whole as it gets.
  ///
  /// - Parameter isEnd: whether the gateway said so.
  mutating func end(isEnd: Bool = true, _ now: Timestamp) -> [ChatNews] {
    guard isTalking else { return [] }
    isTalking = false
    if !isEnd || isTooLong { isTorn = true }
    let isWhole = !isTorn
    let news = told(isWhole ? .final : .aborted, now, isWhole ? nil : "a part of it is missing")
    if turn == nil, case .ambient(let record)? = news.first { unclaimed?.append(record) }
    if isWhole, turn != nil { last = "\(key)/\(count)" }
    text = ""
    return news
  }

  /// Whether more of a text is there than was told.
  var isBehind: Bool { pace.isBehind }

  /// What was not told yet of a text that grows.
  mutating func rest(_ now: Timestamp) -> [ChatNews] {
    pace.isBehind && isTalking ? told(.partial, now) : []
  }

  /// Bytes of the message that is being said.
  var length: Int { text.utf8.count }

  private mutating func told(
    _ state: MessageRecord.State, _ now: Timestamp, _ reason: String? = nil
  ) -> [ChatNews] {
    pace.caughtUp(at: text.utf8.count)
    var record = MessageRecord(
      origin, id: "\(key)/\(count)", thread: thread, role: .assistant, text: text, state: state,
      time: now)
    record.turn = turn
    record.reason = reason
    return [turn == nil ? .ambient(record) : .message(record)]
  }

  // MARK: - Tools

  /// Whether a tool runs.
  var isWorking: Bool { !tools.isEmpty }

  /// A tool is called.
  mutating func call(
    _ id: String, _ tool: String, _ arguments: [UInt8]?, _ now: Timestamp
  ) -> [ChatNews] {
    guard let turn else { return [] }
    var call = ToolCallRecord(
      origin, id: id, thread: thread, tool: tool, state: .running, time: now)
    call.turn = turn
    call.arguments = arguments
    call.started = now
    if tools.count < Self.mostTools { tools[id] = call }
    return rest(now) + [.toolCall(call)]
  }

  /// A tool has ended.
  mutating func result(
    _ id: String, _ tool: String?, _ output: String?, isError: Bool, _ now: Timestamp
  ) -> [ChatNews] {
    guard let turn else { return [] }
    var call =
      tools.removeValue(forKey: id)
      ?? ToolCallRecord(
        origin, id: id, thread: thread, tool: tool ?? "", state: .running, time: now)
    call.turn = turn
    call.state = isError ? .failed : .succeeded
    call.stdout = output
    call.ended = now
    call.time = now
    return rest(now) + [.toolCall(call)]
  }
}
