import Core
import Records
import Web

/// The events of a thread as a stream (agentutils-records(5), "event"): the name of what
/// happened, its number as the id, the event as it came. Whole, once each and in order over
/// any number of connections, see `WatchLedger`.
///
/// The server sends no signs of life, and says nothing when it has stopped to send
/// (Agent/Pincer/CONTRACT.md 4.2): in silence it is asked for the number of its last event.
final class PincerWatch {
  /// Seconds that events the server has may be on their way, and where that is unlikely.
  private static let (slack, shortSlack) = (1.0, 0.1)
  /// How long the head of the stream is waited for, which a server may send with the first
  /// event, and how soon the server is asked again that could not answer, seconds.
  private static let (headWait, askAgain) = (0.25, 2.0)

  private let loop: StreamLoop
  private let calls: PincerCalls
  private let thread: String
  private var ledger: WatchLedger
  /// The largest number that the server is known to have given, in this run or an earlier one.
  private var given: Int64
  private var givenBefore: Int64 = 0

  /// The last sign of life: bytes of the stream, or an answer about its last event.
  private var lastLife = 0.0
  private var lastNews = 0.0
  /// The server is asked for its last event.
  private var asking: Fetch?
  private var isUp = false
  private var askAt = Double.infinity
  /// Where in the thread is a message that the server can send.
  private var place = 0

  /// `given`: the largest number that the server gave in an earlier run.
  init(_ loop: StreamLoop, _ server: AgentServer, thread: String, last: Int64, given: Int64 = 0) {
    (self.loop, self.thread, self.given) = (loop, thread, given)
    calls = PincerCalls(loop.client, server)
    ledger = WatchLedger(last: last)
  }

  var last: Int64 { ledger.last }

  /// Tells each event, also as it came.
  func run(
    _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) -> Never {
    defer { asking = nil }
    (lastLife, lastNews) = (Clock.monotonic, Clock.monotonic)
    isUp = false
    askAt = lastLife + Self.headWait
    ledger.connect()
    let stream = try calls.watch(
      thread, behind: ledger.last, loop, limit: loop.policy.maxEventBytes)
    var wasOpen = false
    while true {
      if let end = asking?.end { try learn(calls.outcome(end)) }
      let item = try stream.receive(until: try watch(stream.lastHeard))
      if stream.isOpen, !wasOpen {
        wasOpen = true
        (lastLife, lastNews, askAt) = (Clock.monotonic, Clock.monotonic, Clock.monotonic)
        open(stream.place)
        if asking == nil { try ask(PincerCalls.patience) }
      }
      switch item {
      case .message(let message): try receive(message, tell)
      case .oversize(let bytes):
        ledger.passOver()
        loop.oversize(bytes: bytes)
      case .end(nil, _): throw .lost("the server ended the stream")
      case .end(let error?, let head):
        throw LinkEnd(calls.server.problem(of: error, head))
      case nil: continue
      }
    }
  }

  /// The server is there: the head of the stream says so, or an answer that is faster.
  private func open(_ place: String) {
    if !isUp { loop.opened(place) }
    isUp = true
  }

  // MARK: - Silence

  /// Notices what is missing, and silence; when to look again, by `Clock.monotonic`.
  private func watch(_ lastHeard: Double) throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    lastLife = max(lastLife, lastHeard)
    var next = asking?.due(now) ?? .infinity
    if isUp, ledger.isBehind, asking == nil {
      let due = lastNews + (ledger.isCut ? Self.shortSlack : Self.slack)
      if now < due {
        next = min(next, due)
      } else if ledger.retry() {
        throw lost("events up to \(ledger.known) did not come")
      } else {
        loop.fault(
          "\(loop.place): the server has events up to \(ledger.known) and does not send them",
          at: nil)
      }
    }
    var patience = PincerCalls.patience
    if let limit = loop.policy.idleTimeout {
      if now - lastLife >= limit {
        throw .lost("nothing came for \(Latency.seconds(limit)) s")
      }
      next = min(next, lastLife + limit)
      if isUp { (askAt, patience) = (max(askAt, lastLife + limit / 2), limit / 2) }
    } else if isUp {
      return next
    }
    if asking == nil, now >= askAt { try ask(patience) }
    return min(next, asking?.due(now) ?? askAt)
  }

  private func ask(_ patience: Double) throws(LinkEnd) {
    givenBefore = given
    let question = PincerMessages.question(thread, at: place)
    do throws(Failure) {
      asking = try calls.begin(.listThreadMessages, question, silence: patience)
    } catch {
      try learn(.failure(.init(problem: error)))
    }
  }

  private func learn(_ outcome: PincerCalls.Outcome) throws(LinkEnd) {
    asking = nil
    let now = Clock.monotonic
    switch outcome {
    case .success(let reply):
      open(loop.place)
      (lastLife, askAt) = (now, now)
      // What is on its way now may still come.
      guard let last = reply.value.pincerNumber("lastSequence") else { return }
      if last < givenBefore { throw beginAgain(last) }
      if last > ledger.known { lastNews = now }
      ledger.learn(last)
    case .failure(let refusal) where refusal.isUnreadable && place < PincerMessages.furthest:
      open(loop.place)
      (lastLife, askAt, place) = (now, now, PincerMessages.other(than: place))
    case .failure(let refusal):
      switch refusal.problem.status {
      case .denied: throw .failed(refusal.problem)
      case .temporary: askAt = now + Self.askAgain
      default: askAt = .infinity
      }
    }
  }

  /// The server was made anew, or put back: what it numbers is told from the first event on.
  private func beginAgain(_ last: Int64) -> LinkEnd {
    loop.note(
      "the numbers of the events began again: the last one is \(last), and was \(givenBefore)")
    given = 0
    ledger = WatchLedger(last: 0)
    return .again("the numbers of the events began again")
  }

  // MARK: - Events

  private func receive(
    _ message: [UInt8], _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) {
    let event: PincerEvent
    do throws(Failure) { event = try PincerEvent(message) } catch {
      ledger.passOver()
      return loop.fault("\(loop.place): a message that is no event: \(error.reason)", at: nil)
    }
    lastNews = Clock.monotonic
    // The server numbers all events; one without a number cannot be known again.
    if event.sequence != 0 {
      let first = ledger.last + 1
      switch ledger.receive(event.sequence) {
      case .drop: return
      case .refetch:
        _ = ledger.retry()
        let last = event.sequence - 1
        throw lost(
          first == last
            ? "event \(first) did not come" : "events \(first) to \(last) did not come")
      case .takeBehind(let lost): loop.missed(lost)
      case .take: break
      }
      given = ledger.last
    }
    try tell(event, message)
  }

  /// What is missing is asked for: at once, if that is likely to help.
  private func lost(_ reason: String) -> LinkEnd {
    ledger.hasGrown ? .again(reason) : .lost(reason)
  }
}
