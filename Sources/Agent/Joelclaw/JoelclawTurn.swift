import Core
import Records
import Web

/// One prompt and what becomes of it (CONTRACT.md 4). A gateway confirms nothing: how far it is
/// shows in the status that is asked for. No network, no clock.
struct JoelclawTurn {
  /// How far a prompt is.
  enum Phase: Equatable {
    /// Waits until the agent is free.
    case queued
    /// Written; whether it arrived is not known.
    case sent
    /// The agent is at it.
    case taken(JoelclawStatus.Request)
  }

  let question: ChatQuestion
  private let origin: RecordOrigin
  private(set) var phase = Phase.queued
  /// How it ended; nil while it goes on.
  private(set) var end: ChatEnd?
  /// When the status is to be asked for.
  var pace = StatusPace()
  var speech: JoelclawSpeech
  /// Whether the agent is free, as far as is known.
  private(set) var isFree = false
  /// Whether the gateway is to be told to end what it is at, which is this.
  private(set) var wantsAbort = false
  var limits: PromptLimits
  private var isAborting = false
  private var turn: TurnRecord
  private var words: MessageRecord
  /// The newest request that was seen before it was sent, and what is too old to be ours.
  private var newest: Timestamp?
  private var earliest: Timestamp?
  /// Whether a connection was lost since it was sent, and no status has come since.
  private var isCut = false
  /// Whether a gateway that was restarted is to begin again: what comes is the whole answer.
  private var isAwaited = false
  private var process: Int64?
  /// What the gateway said went wrong, behind which nothing was said.
  private(set) var failure: String?

  /// How far the clock of a gateway may be behind ours, seconds.
  private static let skew = 60

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

  /// What is told of it first.
  var beginning: [ChatNews] { [.message(words), .turn(turn)] }

  // MARK: - What is done

  /// It was written to the gateway.
  ///
  /// - Parameter text: as it was written.
  mutating func sent(_ text: String, now: Timestamp, clock: Double) -> [ChatNews] {
    phase = .sent
    words.text = text
    earliest = now.adding(.seconds(-Self.skew))
    limits.sent(clock)
    speech.mayBegin()
    // An answer of a word may be over soon.
    pace.begin(clock, after: 0, then: 0.05)
    return say(.sent, now)
  }

  /// A person wants it to end. What the agent is at is looked at first: `abort` ends
  /// whatever that is.
  mutating func abort(clock: Double) {
    guard case .taken = phase else {
      end = .aborted(phase == .sent ? "the message stays with the gateway" : nil)
      return
    }
    isAborting = true
    limits.abort(clock)
    pace.begin(clock, after: 0)
  }

  /// The gateway was told to.
  mutating func aborted(clock: Double) {
    wantsAbort = false
    pace.begin(clock)
  }

  // MARK: - The connection

  /// It is open, and a status comes by itself.
  mutating func opened(clock: Double) { pace.begin(clock) }

  /// It is lost.
  mutating func lost(now: Timestamp, clock: Double) -> [ChatNews] {
    pace.stop()
    isFree = false
    limits.busy(clock)
    switch phase {
    case .queued: return []
    case .sent:
      isCut = true
      limits.lost()
      speech.tear()
      return say(.unconfirmed, now, "the connection was lost")
    case .taken:
      (isCut, isAwaited) = (true, false)
      speech.tear()
      return []
    }
  }

  // MARK: - What comes

  /// Takes a frame that is no status.
  mutating func take(_ event: JoelclawEvent, now: Timestamp, clock: Double) -> [ChatNews] {
    if case .taken = phase { limits.heard(clock) }
    var news: [ChatNews] = []
    switch event {
    case .text(let delta):
      failure = nil
      let isFirst = !speech.isTalking
      news = speech.say(delta, now)
      if speech.isTooLong, speech.turn != nil {
        end = .lost("the answer is longer than what is kept")
      }
      // Whose it is shows in the status.
      if phase == .sent, isFirst { pace.begin(clock, after: 0, then: 0.05) }
      return news
    case .turnEnd: news = speech.end(now)
    case .toolCall(let id, let tool, let arguments): news = speech.call(id, tool, arguments, now)
    case .toolResult(let id, let tool, let output, let isError):
      news = speech.result(id, tool, output, isError: isError, now)
    case .error(let reason): if case .taken = phase { failure = reason }
    case .status, .other: return []
    }
    pace.begin(clock)
    return news
  }

  /// Takes a status.
  mutating func take(_ status: JoelclawStatus, now: Timestamp, clock: Double) -> [ChatNews] {
    if let session = status.session {
      (speech.thread, turn.thread, words.thread) = (session, session, session)
    }
    let isRestarted = process != nil && status.process != nil && process != status.process
    process = status.process ?? process
    pace.answered(clock)
    switch phase {
    case .queued:
      isFree = status.active == nil
      newest = [newest, status.active?.enqueued].compactMap(\.self).max()
      limits.blocker = status.active?.source
      return []
    case .sent:
      guard let active = status.active else {
        // If it is taken after all, nothing of the answer was missed.
        if isCut, speech.isTorn { speech.mayBegin() }
        limits.idle(clock, isShort: speech.mayHaveAnswered)
        return []
      }
      limits.busy(clock)
      guard isOurs(active) else {
        speech.disown()
        return []
      }
      return begin(active, now, clock)
    case .taken(let own):
      return take(status.active, own, isRestarted: isRestarted, now, clock)
    }
  }

  private func isOurs(_ active: JoelclawStatus.Request) -> Bool {
    guard active.source == JoelclawStatus.ours else { return false }
    guard let time = active.enqueued else { return newest == nil }
    return time >= (earliest ?? time) && newest.map { time > $0 } != false
  }

  private mutating func begin(
    _ active: JoelclawStatus.Request, _ now: Timestamp, _ clock: Double
  ) -> [ChatNews] {
    phase = .taken(active)
    isCut = false
    limits.taken(clock)
    pace.begin(clock)
    var news = say(.final, now)
    turn.state = .running
    turn.started = now
    turn.time = now
    news.append(.turn(turn))
    return news + speech.claim(turn.id, now)
  }

  private mutating func take(
    _ active: JoelclawStatus.Request?, _ own: JoelclawStatus.Request, isRestarted: Bool,
    _ now: Timestamp, _ clock: Double
  ) -> [ChatNews] {
    // What a gateway did not finish it begins again when it is restarted.
    if isRestarted { limits.restarted() }
    let isSame = active?.id == own.id
    let isAgain =
      limits.isRestarted && active?.source == own.source && active?.enqueued == own.enqueued
    if let active, isSame || isAgain {
      // Begun before this connection, it may have said something that is missed.
      phase = .taken(active)
      limits.working(clock)
      if isAborting { wantsAbort = true }
      (isCut, isAwaited) = (false, false)
      return []
    }
    var news: [ChatNews] = []
    if active == nil {
      if isCut, limits.isRestarted, !isAwaited {
        isAwaited = true
        news = speech.restart(now)
      }
      let isOpen = speech.isTalking || speech.isWorking
      guard limits.isOver(clock, isOpen: isOpen, mayCome: isAwaited) else {
        pace.begin(clock)
        return news
      }
    }
    return news + finish(now)
  }

  // MARK: - The end

  private mutating func finish(_ now: Timestamp) -> [ChatNews] {
    var news = speech.end(isEnd: false, now)
    if isAborting {
      turn.state = .aborted
      end = .aborted(nil)
    } else if let failure {
      turn.state = .failed
      turn.reason = failure
      end = .failed(failure)
    } else {
      turn.state = .completed
      let isLost = speech.isTorn || isAwaited
      turn.message = isLost ? nil : speech.last
      end = isLost ? .lost("a part of the answer is lost, and nobody keeps it") : .answered
    }
    turn.ended = now
    turn.time = now
    news.append(.turn(turn))
    return news
  }

  /// Gives up what has waited for too long.
  mutating func tick(now: Timestamp, clock: Double) -> [ChatNews] {
    guard end == nil, clock >= limits.next(phase) else { return [] }
    switch phase {
    case .queued:
      end = .refused(AnswerProblem(limits.words, .temporary))
      return []
    case .sent:
      end = .lost("whether the message was taken is not known")
      return say(.unconfirmed, now, "the agent was not seen at it")
    case .taken:
      end = isAborting ? .aborted("the agent goes on") : .lost(limits.words)
      return []
    }
  }

  private mutating func say(
    _ state: MessageRecord.State, _ now: Timestamp, _ reason: String? = nil
  ) -> [ChatNews] {
    words.state = state
    words.reason = reason
    words.time = now
    return [.message(words)]
  }
}
