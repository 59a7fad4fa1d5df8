import Core
import Records
import Turns

/// What a gateway streams, as records: messages, by where they end, and tools, by their ids. No
/// frame says for whom it is; that is known by the status at most, and what comes is held until
/// it is told. No network, no clock.
struct JoelclawSpeech {
  private enum Held {
    /// A message, and what of it is surely of the turn.
    case message(MessageRecord, sure: String?)
    case call(ToolCallRecord)
  }

  let origin: RecordOrigin
  /// What the ids of messages begin with.
  let key: String
  var thread: String
  /// Whose what comes is; nil for somebody else's.
  private(set) var turn: String?
  /// Not behind the end of a message, until the status says so.
  private(set) var isSure = false
  private var hasEnded = false
  /// How many messages ended since it may be the answer, also without a word.
  private(set) var ends = 0
  private(set) var last: String?
  /// Whether a piece may be missing of a message.
  private(set) var isTorn = false
  /// Whether a whole message may be missing, for it is not known whose it was.
  private(set) var isHoled = false
  private(set) var isTooLong = false
  private(set) var isTalking = false
  private var text = ""
  private var split = SplitText()
  private var sure: String?
  private var count = 0
  /// Bytes and messages since it may be the answer.
  private var (size, number) = (0, 0)
  private var pace = TextPace()
  /// The calls of tools that have no end yet, and whether there were any.
  private var (open, usesTools): ([String: ToolCallRecord], Bool) = ([:], false)
  private var held: [Held] = []
  private var isWaiting = false
  /// Whether somebody else's request was seen since, and whether what is being said is of it.
  private var (isDisowned, isOthers) = (false, false)

  /// The most that is kept of one answer: bytes, and messages.
  private static let (mostBytes, mostMessages) = (64 << 20, 10_000)
  private static let mostOpen = 1000

  init(_ origin: RecordOrigin, key: String, thread: String) {
    (self.origin, self.key, self.thread) = (origin, key, thread)
  }

  // MARK: - Whose it is

  /// What comes from now on may be the answer.
  mutating func mayBegin() {
    (isWaiting, isDisowned) = (true, false)
    (held, open, usesTools) = ([], [:], false)
    (text, isTalking, isTorn, isTooLong) = ("", false, false, false)
    (size, number, ends) = (0, 0, 0)
  }

  /// Whether all may have come before anybody saw it begin.
  var mayHaveEnded: Bool { isWaiting && !isDisowned && ends > 0 && !isTalking }

  /// Whether something came that may be the answer.
  var mayHaveAnswered: Bool { isWaiting && !isDisowned && hasMessages }

  private var hasMessages: Bool { held.contains { if case .message = $0 { true } else { false } } }

  mutating func disown() {
    (isDisowned, isOthers) = (true, isTalking)
    (held, open, usesTools) = ([], [:], false)
  }

  /// What came since `mayBegin` or `disown`, and what comes, is of a turn.
  mutating func claim(_ turn: String, _ now: Timestamp) -> [ChatNews] {
    var news: [ChatNews] = []
    if isTalking, isOthers {
      news = told(.aborted, now, Self.endless)
      (text, isTalking) = ("", false)
    }
    if isDisowned, hasMessages {
      isHoled = true
      held = []
    }
    self.turn = turn
    hasEnded = hasMessages
    (isSure, isWaiting) = (isTalking || !hasEnded, false)
    news += release()
    if isTalking { news += told(.partial, now) }
    return news
  }

  mutating func doubt() {
    guard isSure else { return }
    isSure = false
    if isTalking { sure = text }
  }

  /// Nothing else is active: what came is of the turn, which `isActive` says goes on.
  mutating func confirm(isActive: Bool, _ now: Timestamp) -> [ChatNews] {
    guard turn != nil else { return [] }
    var news = release()
    if isTalking, !isSure { news += told(.partial, now) }
    sure = nil
    // The status may be older than the end of what it names.
    isSure = isTalking || isActive && !hasEnded
    return news
  }

  /// Somebody else's request is active: what is held is of that.
  mutating func disclaim(_ now: Timestamp) -> [ChatNews] {
    if isTalking, !isSure {
      held.append(.message(record(.aborted, now, Self.endless), sure: sure))
      (text, isTalking) = ("", false)
    }
    var news: [ChatNews] = []
    for each in held {
      guard case .message(var record, let sure) = each else { continue }
      guard let sure else {
        // Whole, it may be the last one of the turn.
        if record.reason != Self.endless { isHoled = true }
        record.turn = nil
        news.append(.ambient(record))
        continue
      }
      isTorn = true
      (record.text, record.state, record.reason) = (sure, .aborted, Self.torn)
      news.append(.message(record))
    }
    held = []
    return news
  }

  private mutating func release() -> [ChatNews] {
    let all = held
    held = []
    return all.map { each in
      switch each {
      case .message(var record, _):
        record.turn = turn
        if record.state == .final { last = record.id }
        return .message(record)
      case .call(var call):
        call.turn = turn
        return .toolCall(call)
      }
    }
  }

  /// A connection was lost, and what was said meanwhile with it.
  mutating func tear() { isTorn = true }

  mutating func restart(_ now: Timestamp) -> [ChatNews] {
    let news = isTalking ? told(.aborted, now, "the gateway was restarted") : []
    (text, isTalking, isTorn, last) = ("", false, false, nil)
    (open, usesTools, held, sure) = ([:], false, [], nil)
    (isSure, hasEnded, ends) = (true, false, 0)
    return news
  }

  // MARK: - What comes

  mutating func say(_ piece: TextPiece, _ now: Timestamp) -> [ChatNews] {
    if !isTalking {
      count += 1
      number += 1
      (text, pace, sure, isOthers) = ("", TextPace(), nil, false)
      split.end()
    }
    isTalking = true
    let delta = split.next(piece)
    size += delta.utf8.count
    if size > Self.mostBytes || number > Self.mostMessages {
      isTooLong = true
      return []
    }
    text += delta
    if isHeld { return [] }
    return pace.changed(to: text.utf8.count) ? told(.partial, now) : []
  }

  mutating func end(isEnd: Bool = true, _ now: Timestamp) -> [ChatNews] {
    defer {
      if isEnd {
        (isSure, hasEnded) = (false, true)
        ends += 1
      }
    }
    guard isTalking else { return [] }
    isTalking = false
    text += split.end()
    if !isEnd || isTooLong { isTorn = true }
    let isWhole = !isTorn
    let record = record(isWhole ? .final : .aborted, now, isWhole ? nil : Self.torn)
    if isHeld || isWaiting && !isOthers { held.append(.message(record, sure: sure)) }
    if isHeld {
      text = ""
      return []
    }
    if isWhole, turn != nil { last = record.id }
    let news = told(record)
    text = ""
    return news
  }

  private static let (torn, endless) = ("a part of it is missing", "its end was not seen")

  private var isHeld: Bool { turn != nil && !isSure }

  var isBehind: Bool { pace.isBehind && !isHeld }

  mutating func rest(_ now: Timestamp) -> [ChatNews] {
    isBehind && isTalking ? told(.partial, now) : []
  }

  var length: Int { text.utf8.count }

  var hasParts: Bool { number > 1 || usesTools }

  private mutating func told(
    _ state: MessageRecord.State, _ now: Timestamp, _ reason: String? = nil
  ) -> [ChatNews] { told(record(state, now, reason)) }

  private mutating func told(_ record: MessageRecord) -> [ChatNews] {
    pace.caughtUp(at: text.utf8.count)
    return [turn == nil ? .ambient(record) : .message(record)]
  }

  private func record(
    _ state: MessageRecord.State, _ now: Timestamp, _ reason: String?
  ) -> MessageRecord {
    var record = MessageRecord(
      origin, id: "\(key)/\(count)", thread: thread, turn: turn, role: .assistant, text: text,
      state: state,
      time: now)
    record.reason = reason
    return record
  }

  // MARK: - Tools

  var isWorking: Bool { !open.isEmpty }

  mutating func receive(_ event: JoelclawEvent, _ now: Timestamp) -> [ChatNews] {
    guard turn != nil || isWaiting, var call = event.call(origin, thread: thread, now) else {
      return []
    }
    usesTools = true
    if call.state == .running {
      if open.count < Self.mostOpen { open[call.id] = call }
    } else if let begun = open.removeValue(forKey: call.id) {
      (call.tool, call.arguments, call.started) = (begun.tool, begun.arguments, begun.started)
    }
    call.turn = turn
    if turn != nil, isSure { return rest(now) + [.toolCall(call)] }
    held.append(.call(call))
    if held.count > Self.mostMessages { isTooLong = true }
    return []
  }

  // MARK: - What is missing

  var gap: String? {
    if isTorn { return "a part of the answer is lost, and nobody keeps it" }
    if isHoled { return "it is not known of all that was said whether it is a part of the answer" }
    return isWorking ? "the agent is done, but a tool of the answer has no end" : nil
  }
}
