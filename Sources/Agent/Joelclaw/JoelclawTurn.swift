import Core
import Records
import Turns
import Web

/// One prompt and what becomes of it (CONTRACT.md 4). A gateway confirms nothing: how far it is
/// shows in the status that is asked for. No network, no clock.
struct JoelclawTurn {
  enum Phase: Equatable {
    case queued
    /// Written; whether it arrived is not known.
    case sent
    case taken(JoelclawStatus.Request)
  }

  let question: ChatQuestion
  private let origin: RecordOrigin
  private(set) var phase = Phase.queued
  private(set) var end: ChatEnd?
  var pace = StatusPace()
  var speech: JoelclawSpeech
  var isFree: Bool { freeSince != nil }
  /// Since when it was free each time that it was asked, seconds of `Clock.monotonic`.
  private(set) var freeSince: Double?
  /// Whether the gateway is to be told to end what it is at, which is this.
  private(set) var wantsAbort = false
  var limits: PromptLimits
  private var (isAborting, hasAborted) = (false, false)
  private var turn: TurnRecord
  private var words: MessageRecord
  var isTaken: Bool { if case .taken = phase { true } else { false } }
  private var ours = OwnRequest()
  /// Whether a connection was lost since it was sent, and no status has come since.
  private var isCut = false
  /// Whether a gateway that was restarted is to begin again: what comes is the whole answer.
  private var isAwaited = false
  /// Whether it takes the prompt again, as a request that was not seen yet.
  private var isTakenAgain = false
  /// The last status of this turn's gateway.
  private var known: JoelclawStatus?
  /// What the gateway said went wrong, behind which nothing was said.
  private(set) var failure: String?

  private var lastText = 0.0

  /// How often a model is asked that fails. Each try ends as an answer without words does.
  private static let tries = 4
  /// How long a message may pause before it is looked whether it still goes on, seconds.
  private static let longestPause = 2.0

  init(
    _ question: ChatQuestion, _ origin: RecordOrigin, thread: String, patience: Double?,
    now: Timestamp, clock: Double
  ) {
    self.question = question
    self.origin = origin
    limits = PromptLimits(patience: patience, now: clock)
    speech = JoelclawSpeech(origin, key: question.key, thread: thread)
    turn = TurnRecord(origin, id: question.key, thread: thread, state: .queued, time: now)
    words = MessageRecord(
      origin, id: "\(question.key)/0", thread: thread, role: .user, text: question.text,
      state: .queued, time: now)
    words.turn = question.key
    pace.begin(clock, after: 0)
  }

  var beginning: [ChatNews] { [.message(words), .turn(turn)] }

  // MARK: - What is done

  mutating func sent(_ text: String, now: Timestamp, clock: Double) -> [ChatNews] {
    phase = .sent
    words.text = text
    ours.sent(now)
    limits.sent(clock)
    speech.mayBegin()
    // An answer of a word may be over soon.
    pace.begin(clock, after: 0, then: 0.05)
    return say(.sent, now)
  }

  /// What the agent is at is looked at first: `abort` ends whatever that is.
  mutating func abort(clock: Double) {
    guard isTaken else {
      end = .aborted(phase == .sent ? "the message stays with the gateway" : nil)
      return
    }
    isAborting = true
    limits.abort(clock)
    pace.begin(clock, after: 0)
  }

  /// The gateway was told to: once a connection, for twice might end what comes next.
  mutating func aborted(clock: Double) {
    (wantsAbort, hasAborted) = (false, true)
    pace.begin(clock)
  }

  // MARK: - The connection

  mutating func opened(clock: Double) { pace.begin(clock) }

  mutating func lost(now: Timestamp, clock: Double) -> [ChatNews] {
    pace.stop()
    freeSince = nil
    limits.busy(clock)
    switch phase {
    case .queued: return []
    case .sent:
      isCut = true
      limits.lost()
      speech.tear()
      return say(.unconfirmed, now, "the connection was lost")
    case .taken: (isCut, isAwaited, hasAborted) = (true, false, false)
    }
    speech.tear()
    return []
  }

  // MARK: - What comes

  /// A frame could not be read, which may have been a piece of what is said.
  mutating func missed() { if phase != .queued { speech.tear() } }

  mutating func receive(_ event: JoelclawEvent, now: Timestamp, clock: Double) -> [ChatNews] {
    if isTaken { limits.heard(clock) }
    switch event {
    case .text(let delta):
      let isBack = clock - lastText > Self.longestPause
      if isBack, speech.isTalking { speech.doubt() }
      // Whose it is shows in the status.
      if phase != .queued, isBack || !speech.isTalking, !speech.isSure {
        pace.begin(clock, after: 0, then: 0.05)
      }
      lastText = clock
      isAwaited = false
      if speech.isSure { failure = nil }
      let news = speech.say(delta, now)
      if speech.isTooLong, speech.turn != nil {
        end = .lost("the answer is longer than what is kept")
      }
      return news
    case .turnEnd:
      // The next words may be somebody else's.
      pace.begin(clock, after: 0)
      isAwaited = false
      return speech.end(now)
    case .toolCall, .toolResult:
      pace.begin(clock, after: speech.isSure ? 0.25 : 0, then: speech.isSure ? 0.25 : 0.05)
      return speech.receive(event, now)
    case .error(let reason):
      if isTaken { failure = reason }
      speech.doubt()
      pace.begin(clock, after: 0)
      return []
    case .status, .other: return []
    }
  }

  mutating func receive(_ status: JoelclawStatus, now: Timestamp, clock: Double) -> [ChatNews] {
    if let session = status.session {
      (speech.thread, turn.thread, words.thread) = (session, session, session)
    }
    let isRestarted = status.isRestarted(since: known)
    known = status
    pace.answered(clock)
    switch phase {
    case .queued:
      let isFree = status.active == nil && !status.isWithoutRedis
      freeSince = isFree ? freeSince ?? clock : nil
      ours.before(status.active)
      limits.blocker = status.active?.source
      if status.isWithoutRedis {
        end = .refused(
          Failure(
            "the gateway has lost its Redis, and would lose the message; nothing was sent",
            .temporary))
      }
      return []
    case .sent:
      guard let active = status.active else {
        // If it is taken after all, nothing of the answer was missed.
        if isCut, speech.isTorn { speech.mayBegin() }
        limits.idle(clock, isShort: speech.mayHaveAnswered)
        // Idle before, and an end behind the prompt: it was over before anybody could see it.
        if !isCut, !speech.isTorn, speech.mayHaveEnded {
          let own = JoelclawStatus.Request(id: "", source: JoelclawStatus.ours, enqueued: nil)
          return begin(own, now, clock) + receive(status, own, isRestarted: false, now, clock)
        }
        return []
      }
      limits.busy(clock)
      guard ours.receive(active) else {
        speech.disown()
        return []
      }
      return begin(active, now, clock)
    case .taken(let own):
      return receive(status, own, isRestarted: isRestarted, now, clock)
    }
  }

  private mutating func begin(
    _ active: JoelclawStatus.Request, _ now: Timestamp, _ clock: Double
  ) -> [ChatNews] {
    phase = .taken(active)
    isCut = false
    limits.taken(clock)
    pace.begin(clock)
    let news = say(.final, now)
    (turn.state, turn.started, turn.time) = (.running, now, now)
    return news + [.turn(turn)] + speech.claim(turn.id, now)
  }

  private mutating func receive(
    _ status: JoelclawStatus, _ own: JoelclawStatus.Request, isRestarted: Bool,
    _ now: Timestamp, _ clock: Double
  ) -> [ChatNews] {
    let active = status.active
    var news: [ChatNews] = []
    // What a gateway did not finish it begins again when it is restarted: the whole answer comes.
    if isRestarted {
      limits.restarted()
      (isAwaited, isTakenAgain) = (true, true)
      news = speech.restart(now)
      if status.mayHaveBegun { speech.tear() }
    }
    let isSame = active?.id == own.id
    let isAgain =
      limits.isRestarted && active?.source == own.source
      && (active?.enqueued == own.enqueued || isTakenAgain)
    if let active, isSame || isAgain {
      // Begun before this connection, it may have said something that is missed.
      phase = .taken(active)
      limits.working(clock)
      wantsAbort = isAborting && !hasAborted
      (isCut, isTakenAgain) = (false, false)
      return news + confirm(isActive: true, now)
    }
    if active == nil {
      news += confirm(isActive: false, now)
      let isOpen = speech.isTalking || speech.isWorking
      let isOver = limits.isOver(
        clock, isOpen: isOpen, hasParts: speech.hasParts, mayCome: isAwaited)
      guard isOver else {
        pace.begin(clock)
        return news
      }
    } else {
      news += speech.disclaim(now)
    }
    return news + finish(now)
  }

  private mutating func confirm(isActive: Bool, _ now: Timestamp) -> [ChatNews] {
    let news = speech.confirm(isActive: isActive, now)
    // It got over what went wrong.
    for case .message in news { failure = nil }
    return news
  }

  // MARK: - The end

  private mutating func finish(_ now: Timestamp) -> [ChatNews] {
    let news = speech.end(isEnd: false, now)
    if isAborting {
      turn.state = .aborted
      end = .aborted(nil)
    } else if let failure {
      (turn.state, turn.reason) = (.failed, failure)
      end = .failed(failure)
    } else if let reason = speech.gap ?? (isAwaited ? "the gateway did not begin again" : nil) {
      (turn.state, turn.reason) = (.failed, reason)
      end = .lost(reason)
    } else if speech.last == nil, speech.ends >= Self.tries {
      let reason = "the model failed \(speech.ends) times, or had nothing to say"
      (turn.state, turn.reason) = (.failed, reason)
      end = .failed(reason)
    } else {
      turn.state = .completed
      turn.message = speech.last
      end = .answered
    }
    (turn.ended, turn.time) = (now, now)
    return news + [.turn(turn)]
  }

  /// Gives up what has waited for too long.
  mutating func giveUp(now: Timestamp, clock: Double) -> [ChatNews] {
    guard end == nil, clock >= limits.next(phase) else { return [] }
    switch phase {
    case .queued:
      end = .refused(Failure(limits.words, .temporary))
      return []
    case .sent:
      end = .lost(ours.doubt)
      (turn.state, turn.reason, turn.ended, turn.time) = (.failed, ours.doubt, now, now)
      return say(.unconfirmed, now, "the agent was not seen at it") + [.turn(turn)]
    case .taken:
      end = isAborting ? .aborted("the agent goes on") : .lost(limits.words)
      return []
    }
  }

  private mutating func say(
    _ state: MessageRecord.State, _ now: Timestamp, _ reason: String? = nil
  ) -> [ChatNews] {
    (words.state, words.reason, words.time) = (state, reason, now)
    return [.message(words)]
  }
}

/// Which request of a gateway is ours: a prompt gets no id, and clocks differ (CONTRACT.md 4).
/// No network, no clock.
struct OwnRequest {
  private var newest: Timestamp?
  private var sentAt: Timestamp?
  /// Seconds by which the gateway's clock seems behind, too far to know what is ours.
  private var behind: Int64?

  /// How far the clock of a gateway may be behind ours, seconds.
  private static let skew: Int64 = 60

  var doubt: String {
    let clock = behind.map { "; the gateway's clock seems to be \($0) s behind" }
    return "whether the message was taken is not known" + (clock ?? "")
  }

  mutating func before(_ active: JoelclawStatus.Request?) {
    newest = [newest, active?.enqueued].compactMap(\.self).max()
  }

  mutating func sent(_ now: Timestamp) { sentAt = now }

  /// Whether the active request is ours.
  mutating func receive(_ active: JoelclawStatus.Request) -> Bool {
    guard active.source == JoelclawStatus.ours else { return false }
    guard let time = active.enqueued else { return newest == nil }
    guard newest.map({ time > $0 }) != false else { return false }
    guard let sentAt, time < sentAt.adding(.seconds(-Self.skew)) else { return true }
    behind = sentAt.seconds - time.seconds
    return false
  }
}

/// How long each step of a prompt is waited for (CONTRACT.md 4). All times are seconds of
/// `Clock.monotonic`.
struct PromptLimits {
  var blocker: String?
  var hasEarlier = false
  private let patience: Double?
  private var last: Double
  /// Since when the agent is idle, though a prompt was sent.
  private var idleSince: Double?
  /// Since when nothing is active, though this was, and nothing came.
  private var nullSince: Double?
  private var (isCut, mayHaveAnswered) = (false, false)
  private var abortedAt: Double?
  private(set) var isRestarted = false

  /// How long a busy agent is waited for; a gateway gives up by then, too.
  private static let usual = 300.0
  /// How long an idle agent may not begin with what was sent: usually, after a loss, and after
  /// something that may have been the answer.
  private static let (idle, idleAfterLoss, idleAfterText) = (30.0, 10.0, 2.0)
  /// How long nothing is active before an answer is over: one of a message; one of several, or
  /// with tools, between which it may be told too soon; and one that has no end.
  private static let (settle, pause, openEnd) = (0.2, 1.0, 5.0)
  private static let abort = 5.0

  init(patience: Double?, now: Double) {
    self.patience = patience
    last = now
  }

  mutating func sent(_ now: Double) { (last, blocker, hasEarlier) = (now, nil, false) }
  mutating func taken(_ now: Double) { (last, idleSince) = (now, nil) }
  mutating func lost() { isCut = true }
  mutating func abort(_ now: Double) { abortedAt = now }

  mutating func heard(_ now: Double) { (last, nullSince) = (now, nil) }

  mutating func working(_ now: Double) {
    nullSince = nil
    // It lives; who sets a limit wants to hear of it.
    if patience == nil { last = now }
  }

  /// `isShort`: whether it has said something that may have been the answer.
  mutating func idle(_ now: Double, isShort: Bool) {
    idleSince = idleSince ?? now
    mayHaveAnswered = isShort
  }

  mutating func busy(_ now: Double) { idleSince = nil }
  mutating func restarted() { (isRestarted, nullSince) = (true, nil) }

  /// Whether the answer is over, now that nothing is active: that may be told too soon.
  mutating func isOver(
    _ now: Double, isOpen: Bool, hasParts: Bool, mayCome: Bool
  ) -> Bool {
    guard let nullSince else {
      self.nullSince = now
      return false
    }
    let wait =
      mayCome ? Self.idleAfterLoss : isOpen ? Self.openEnd : hasParts ? Self.pause : Self.settle
    return now - nullSince >= min(wait, max(patience ?? wait, Self.settle))
  }

  func next(_ phase: JoelclawTurn.Phase) -> Double {
    if let abortedAt { return abortedAt + Self.abort }
    let limit = last + (patience ?? Self.usual)
    guard phase == .sent, let idleSince else { return limit }
    let idle =
      mayHaveAnswered ? Self.idleAfterText : isCut ? Self.idleAfterLoss : Self.idle
    return min(limit, idleSince + min(idle, patience ?? idle))
  }

  var words: String {
    let seconds = Latency.seconds(patience ?? Self.usual)
    if hasEarlier, blocker == nil {
      return "an earlier message may still wait there; nothing was sent in \(seconds) s"
    }
    guard let blocker else { return "nothing came for \(seconds) s" }
    let who = blocker.isEmpty ? "somebody" : blocker
    return "the agent is busy with a request of \(who); nothing was sent in \(seconds) s"
  }
}

/// When a gateway is to be asked for its status. It tells nothing of it by itself. No clock.
struct StatusPace {
  /// When to ask, seconds of `Clock.monotonic`; infinite for not at all.
  private(set) var due = Double.infinity
  private var wait = first
  private var last = -Double.infinity

  private static let (first, longest) = (0.25, 4.0)
  /// The least between two questions, seconds.
  private static let least = 0.05

  /// The next question is due after `delay` seconds, the one after it after `wait`, then twice.
  mutating func begin(_ now: Double, after delay: Double = first, then wait: Double = first) {
    due = min(due, max(now + delay, last + Self.least))
    self.wait = wait
  }

  /// It was asked for. An answer that never comes is asked for again.
  mutating func asked(_ now: Double) { (last, due) = (now, now + Self.longest) }

  /// The answer came, and is not the one that is waited for. What has happened since it was
  /// asked for is asked for when it is due.
  mutating func answered(_ now: Double) {
    due = min(due, now + wait)
    wait = min(wait * 2, Self.longest)
  }

  mutating func stop() { due = .infinity }
}

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
