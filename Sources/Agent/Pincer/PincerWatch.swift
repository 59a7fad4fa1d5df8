import Core
import Records
import Web

/// The events of a thread as a stream (agentutils-records(5), "event"): the name of what
/// happened, its number as the id, the event as it came. Whole, once each and in order over
/// any number of connections, see `WatchLedger`.
///
/// The server sends no signs of life, and says nothing when it has stopped to send
/// (Agent/Pincer/CONTRACT.md 4.2): in silence it is asked for the number of its last event.
final class PincerWatch: StreamLink {
  private enum State {
    case idle
    case connected
    case waiting(until: Double)
    case ended
  }

  private let client: WebClient
  private let calls: PincerCalls
  private let thread: String
  private let policy: StreamPolicy
  private unowned let handler: any StreamHandler
  private var reconnect: Reconnect
  private var ledger: WatchLedger
  /// The largest number that the server is known to have given, in this run or an earlier one.
  private var given: Int64
  private var state = State.idle
  private var stream: ConnectStream?
  private var place: String
  private var isHeld = false
  /// Why the stream was ended here: something is missing.
  private var missing: String?

  /// The last sign of life: bytes of the stream, or an answer about its last event.
  private var lastLife = 0.0
  /// When the last event came.
  private var lastNews = 0.0
  private var isAsking = false
  /// Whether this connection was told as open.
  private var isUp = false
  /// When the server is asked for its last event; infinite when it cannot say.
  private var askAt = Double.infinity

  /// How long events may be on their way that the server says it has, and that is not
  /// likely, seconds.
  private static let (slack, shortSlack) = (1.0, 0.1)
  /// How long the head of the stream is waited for, which a server may send with the first
  /// event, and how soon the server is asked again that could not answer, seconds.
  private static let (headWait, askAgain) = (0.25, 2.0)

  init(
    _ client: WebClient, _ server: AgentServer, thread: String, policy: StreamPolicy,
    given: Int64 = 0, handler: any StreamHandler
  ) {
    self.client = client
    self.given = given
    self.thread = thread
    self.policy = policy
    self.handler = handler
    calls = PincerCalls(client, server)
    place = server.base.display
    reconnect = Reconnect(policy)
    ledger = WatchLedger(last: Self.number(policy.lastEventID))
  }

  private static func number(_ id: [UInt8]) -> Int64 {
    Int64(String(decoding: id, as: UTF8.self)) ?? 0
  }

  var lastEventID: [UInt8] { Array(String(ledger.last).utf8) }
  var isOpen: Bool { isUp }
  func rewind(to id: [UInt8]) { ledger.rewind(to: Self.number(id)) }

  func hold() {
    isHeld = true
    stream?.hold()
  }

  func release(now: Double) {
    guard isHeld else { return }
    isHeld = false
    lastLife = now
    stream?.release(now: now)
  }

  func drop(_ reason: String) { if stream != nil { lose(reason) } }

  func stop() {
    disconnect()
    state = .ended
  }

  // MARK: - Time

  func tick(now: Double) -> Double {
    switch state {
    case .idle: connect(now)
    case .waiting(let until) where until <= now: connect(now)
    case .connected, .waiting, .ended: break
    }
    var next = min(stream?.tick(now: now) ?? .infinity, calls.tick(now: now))
    if case .connected = state { next = min(next, watch(now)) }
    switch state {
    case .waiting(let until): return until
    case .connected: return next
    case .idle, .ended: return .infinity
    }
  }

  /// Notices what is missing, and silence.
  private func watch(_ now: Double) -> Double {
    guard let stream, !isHeld else { return .infinity }
    lastLife = max(lastLife, stream.lastHeard)
    var next = Double.infinity
    if isUp, ledger.isBehind, !isAsking {
      let due = lastNews + (ledger.isCut ? Self.shortSlack : Self.slack)
      if now >= due {
        if ledger.retry() {
          refetch("events up to \(ledger.known) did not come")
        } else {
          handler.streamFaulted(
            "\(place): the server has events up to \(ledger.known) and does not send them")
        }
        return tick(now: now)
      }
      next = due
    }
    if !isUp, !isAsking {
      if now >= askAt { ask(PincerCalls.patience) } else { next = min(next, askAt) }
    }
    guard let limit = policy.idleTimeout else { return next }
    if now - lastLife >= limit {
      lose("nothing came for \(Latency.seconds(limit)) s")
      return tick(now: now)
    }
    if isUp, !isAsking, askAt.isFinite {
      askAt = max(askAt, lastLife + limit / 2)
      if now >= askAt { ask(limit / 2) } else { next = min(next, askAt) }
    }
    return min(next, lastLife + limit)
  }

  /// Asks for the number of the last event.
  private func ask(_ patience: Double) {
    isAsking = true
    let given = given
    let question = RecordText().string("threadId", thread).number("pageSize", 1)
    calls.call(.listThreadMessages, question, silence: patience) { [unowned self] outcome in
      isAsking = false
      let now = Clock.monotonic
      switch outcome {
      case .success(let reply):
        opened(place)
        (lastLife, askAt) = (now, now)
        // What is on its way now may still come.
        if let last = reply.value.pincerNumber("lastSequence") {
          if last < given { return beginAgain(last, behind: given) }
          if last > ledger.known { lastNews = now }
          ledger.learn(last)
        }
      case .failure(.refused(let problem, _)) where problem.status == .denied: end(.failed(problem))
      case .failure(.refused(let problem, _)) where problem.status != .temporary:
        askAt = .infinity
      case .failure: askAt = now + Self.askAgain
      }
    }
  }

  /// The server was made anew, or put back: what it numbers is told from the first event on.
  private func beginAgain(_ last: Int64, behind given: Int64) {
    handler.streamNoted(
      "the numbers of the events began again: the last one is \(last), and was \(given)")
    self.given = 0
    ledger = WatchLedger(last: 0)
    lose("the numbers of the events began again", after: 0)
  }

  // MARK: - Connections

  private func connect(_ now: Double) {
    state = .connected
    (lastLife, lastNews) = (now, now)
    (isHeld, isAsking, isUp, missing) = (false, false, false, nil)
    askAt = now + Self.headWait
    ledger.connect()
    let request: Request
    do throws(SettingsError) {
      request = try calls.server.request(PincerMethod.watchThread.path, method: "POST", body: [])
    } catch {
      return end(.failed(AnswerProblem(error.message, error.status)))
    }
    let question = RecordText().string("threadId", thread)
      .string("fromSequence", String(ledger.last))
    stream = ConnectStream(
      client, request, message: question.bytes,
      limit: policy.maxEventBytes ?? ConnectStream.largest, now: now, handler: self)
  }

  /// The server is there: the head of the stream says so, or an answer that is faster.
  private func opened(_ place: String) {
    guard !isUp else { return }
    isUp = true
    let (isFirst, down) = reconnect.opened(now: Clock.monotonic)
    handler.streamOpened(place, isFirst: isFirst, down: down)
  }

  /// Connects again for what is missing: at once, if that is likely to help.
  private func refetch(_ reason: String) {
    lose(reason, after: ledger.hasGrown ? 0 : nil)
  }

  private func lose(_ reason: String, after wait: Double? = nil, atLeast least: Double? = nil) {
    disconnect()
    let now = Clock.monotonic
    guard let usual = reconnect.failed(now: now, after: least) else {
      return end(.gaveUp(reason))
    }
    state = .waiting(until: now + (wait ?? usual))
    handler.streamLost(reason, wait: wait ?? usual)
  }

  private func disconnect() {
    isUp = false
    calls.stop()
    stream?.cancel()
    stream = nil
  }

  private func end(_ end: StreamEnd) {
    disconnect()
    state = .ended
    handler.streamEnded(end, at: place)
  }
}

extension PincerWatch: ConnectStreamHandler {
  func connectOpened(_ place: String) {
    let now = Clock.monotonic
    (lastLife, lastNews, askAt) = (now, now, now)
    opened(place)
    if !isAsking { ask(PincerCalls.patience) }
  }

  func connectMessage(_ message: [UInt8]) -> Bool {
    let event: PincerEvent
    do throws(Failure) {
      event = try PincerEvent(message)
    } catch {
      ledger.passOver()
      handler.streamFaulted("\(place): a message that is no event: \(error.reason)")
      return true
    }
    lastNews = Clock.monotonic
    // The server numbers all events; one without a number cannot be known again.
    if event.sequence == 0 {
      hand(event, message)
      return true
    }
    let first = ledger.last + 1
    switch ledger.take(event.sequence) {
    case .drop: return true
    case .refetch:
      _ = ledger.retry()
      let last = event.sequence - 1
      missing =
        first == last ? "event \(first) did not come" : "events \(first) to \(last) did not come"
      return false
    case .takeBehind(let lost): handler.streamMissed(lost)
    case .take: break
    }
    reconnect.succeeded()
    given = ledger.last
    hand(event, message)
    return true
  }

  private func hand(_ event: PincerEvent, _ message: [UInt8]) {
    HeldEvent(type: Array(event.name.utf8), id: lastEventID, data: message).withView {
      handler.streamItem(.event($0))
    }
  }

  func connectOversize(bytes: Int) {
    ledger.passOver()
    handler.streamItem(.oversize(bytes: bytes))
  }

  func connectEnded(_ end: ConnectEnd) {
    switch end {
    case .stopped: refetch(missing ?? "the stream was ended")
    case .complete: lose("the server ended the stream")
    case .cut(let reason): lose(reason)
    case .unusable(let reason): self.end(.failed(AnswerProblem(reason, .failure)))
    case .failed(let error, let head):
      let problem = calls.server.problem(of: error, head)
      if problem.status == .temporary { lose(problem.line) } else { self.end(.failed(problem)) }
    case .refused(let head, let body):
      let problem =
        calls.server.problem(of: head, body, method: "POST")
        ?? AnswerProblem("\(head.summary): not a stream of a Pincer server", .failure)
      switch StreamVerdict.judge(problem, head, now: Clock.unix) {
      case .retry(let reason, let wait): lose(reason, atLeast: wait)
      case .failed(let problem): self.end(.failed(problem))
      case .open, .noContent: break
      }
    }
  }
}
