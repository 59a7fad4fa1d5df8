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
        let problem = calls.server.problem(of: error, head)
        throw problem.status == .temporary
          ? .lost(problem.message) : .failed(problem, at: loop.place)
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
      case .denied: throw .failed(refusal.problem, at: loop.place)
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

/// The events of all threads and jobs from now on. There is no stream of them all: each thread
/// has its own, and is found in the lists (Agent/Pincer/CONTRACT.md 4.2). The list is the link, which
/// `StreamLoop` makes again; a stream that ends is taken up behind the next list, without a wait of
/// its own.
final class PincerWatchAll {
  /// How often it is looked which threads there are, seconds.
  private static let interval = 2.0
  /// How many are watched beside each other: those in which something happened last.
  private static let most = 64
  /// How often in a row events are asked for again that did not come.
  private static let mostTries = 3

  private struct Watched {
    var last: Int64
    var tries = 0
    /// When something happened there, as the lists say, and whether an event has come since.
    var updated: Timestamp?
    var hasNews = true
    var reply: ConnectReply?
  }

  private let loop: StreamLoop
  private let calls: PincerCalls
  private var threads: [String: Watched] = [:]
  /// Whether all that was there at the beginning is known.
  private var hasBegun: Bool

  /// `isWhole`: whether what is stored is wanted, too.
  init(_ loop: StreamLoop, _ server: AgentServer, isWhole: Bool) {
    (self.loop, hasBegun) = (loop, isWhole)
    calls = PincerCalls(loop.client, server)
  }

  func run(_ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void) throws(LinkEnd) -> Never {
    for thread in Array(threads.keys) { threads[thread]?.reply = nil }
    try list()
    loop.opened(loop.place)
    var listAt = Clock.monotonic + Self.interval
    while true {
      for thread in Array(threads.keys) { try receive(thread, tell) }
      if Clock.monotonic >= listAt {
        try list()
        listAt = Clock.monotonic + Self.interval
        continue
      }
      try loop.wait(until: listAt)
    }
  }

  // MARK: - Which there are

  private func list() throws(LinkEnd) {
    let names = try PincerThreads.list(calls, loop).sorted {
      ($0.updated?.seconds ?? 0) > ($1.updated?.seconds ?? 0)
    }
    let there = Set(names.map(\.thread))
    for thread in Array(threads.keys) where !there.contains(thread) { threads[thread] = nil }
    for name in names where threads[name.thread] == nil {
      // One that was made since begins with its first event.
      let last = hasBegun ? 0 : try calls.lastSequence(of: name.thread, loop) ?? 0
      threads[name.thread] = Watched(last: last, updated: name.updated)
    }
    hasBegun = true
    for (index, name) in names.enumerated() {
      if index >= Self.most {
        threads[name.thread]?.reply = nil
      } else {
        try watch(name)
      }
    }
  }

  private func watch(_ name: PincerThreads.Name) throws(LinkEnd) {
    guard var watched = threads[name.thread] else { return }
    // Something happened there, and no event told it: its stream may be dead.
    if watched.updated != name.updated {
      if !watched.hasNews { watched.reply = nil }
      (watched.updated, watched.hasNews) = (name.updated, false)
    }
    if watched.reply == nil {
      watched.reply = try calls.watch(
        name.thread, behind: watched.last, loop, limit: loop.policy.maxEventBytes)
    }
    threads[name.thread] = watched
  }

  // MARK: - What comes

  private func receive(
    _ thread: String, _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) {
    while let reply = threads[thread]?.reply, reply.isReady {
      let item: ConnectReply.Item?
      do throws(LinkEnd) { item = try reply.receive(until: 0) } catch {
        if case .over = error { throw error }
        // The next list tells whether the server is there.
        threads[thread]?.reply = nil
        return
      }
      switch item {
      case .message(let message): try receive(message, thread, tell)
      case .oversize(let bytes):
        threads[thread]?.last += 1
        loop.oversize(bytes: bytes)
      case .end(let error?, let head):
        threads[thread]?.reply = nil
        let problem = calls.server.problem(of: error, head)
        if problem.status == .denied { throw .failed(problem) }
      case .end(nil, _): threads[thread]?.reply = nil
      case nil: return
      }
    }
  }

  private func receive(
    _ message: [UInt8], _ thread: String,
    _ tell: (PincerEvent, [UInt8]) throws(LinkEnd) -> Void
  ) throws(LinkEnd) {
    let event: PincerEvent
    do throws(Failure) { event = try PincerEvent(message) } catch {
      return loop.fault("\(loop.place): a message that is no event: \(error.reason)", at: nil)
    }
    guard var watched = threads[thread] else { return }
    if event.sequence != 0 {
      if event.sequence <= watched.last { return }
      // What is missing was lost on the way: another connection brings it.
      if event.sequence > watched.last + 1, watched.tries < Self.mostTries {
        watched.tries += 1
        watched.reply = nil
        threads[thread] = watched
        return
      }
      (watched.last, watched.tries) = (event.sequence, 0)
    }
    watched.hasNews = true
    threads[thread] = watched
    try tell(event, message)
  }
}

/// The envelope of an event of a thread (Agent/Pincer/CONTRACT.md 5.1): as much of it as one
/// needs who hands it on.
struct PincerEvent: Equatable {
  /// The name of what happened, in lower camel case: `turnCompleted`.
  let name: String
  /// Its number in the thread, from 1; 0 where it has none.
  let sequence: Int64

  /// The members that say whose event it is, and not what happened.
  private static let envelope: Set = [
    "eventId", "threadId", "jobId", "turnId", "sequence", "occurredAt", "source", "contentTrust",
  ]

  init(_ message: [UInt8]) throws(Failure) {
    guard let value = try? JSONValue.parse(message), value.isObject else {
      throw Failure("not a JSON object")
    }
    guard let sequence = value.pincerNumber("sequence"),
      (0...WatchLedger.largest).contains(sequence)
    else {
      throw Failure("its sequence is no number of an event")
    }
    self.sequence = sequence
    let names = value.members.lazy.filter { $0.value.isObject }.map { PincerName.camel($0.name) }
    name = names.first { !Self.envelope.contains($0) } ?? "unknown"
  }

}

/// Keeps the events of a thread whole, once each and in order, by their numbers
/// (Agent/Pincer/CONTRACT.md 4.2). They have no holes where they are stored; a hole in what
/// comes is a loss on the way, which another connection mends.
struct WatchLedger {
  enum Verdict: Equatable {
    case take
    case drop
    case refetch
    /// These are not to be had, and it is the next one behind them.
    case takeBehind(ClosedRange<Int64>)
  }

  /// The number up to which everything came.
  private(set) var last: Int64
  /// The number up to which the server has events, as far as is known.
  private(set) var known: Int64 = 0
  /// How often in a row connections brought nothing new though there was something.
  private var fruitless = 0
  private(set) var hasGrown = false
  private(set) var brought = 0
  /// How many messages were passed over since the last event: each leaves a hole.
  private var passedOver: Int64 = 0
  /// Up to where it is settled that what is known does not come.
  private var given: Int64 = 0

  static let mostTries = 2
  /// How many stored events a server sends at most on one connection.
  static let backlog = 2000

  static let largest = Int64.max - 1

  init(last: Int64) { self.last = min(last, Self.largest) }

  mutating func connect() {
    hasGrown = false
    brought = 0
    passedOver = 0
  }

  /// `sequence`: at most `largest`.
  mutating func receive(_ sequence: Int64) -> Verdict {
    known = max(known, sequence)
    if sequence <= last { return .drop }
    // Where a message was too large to be kept, asking again brings it again.
    let isSettled = fruitless >= Self.mostTries || sequence - last - 1 <= passedOver
    if sequence > last + 1, !isSettled { return .refetch }
    defer {
      last = sequence
      brought += 1
      hasGrown = true
      fruitless = 0
      passedOver = 0
    }
    return sequence == last + 1 ? .take : .takeBehind(last + 1...sequence - 1)
  }

  mutating func passOver() { passedOver += 1 }

  mutating func learn(_ sequence: Int64) { known = max(known, sequence) }

  /// Whether the server has events that did not come, and may come yet.
  var isBehind: Bool { known > max(last, given) }

  /// Whether what is missing is surely not on its way on this connection.
  var isCut: Bool { isBehind && brought >= Self.backlog }

  /// False when a new connection for what is missing was tried often enough.
  mutating func retry() -> Bool {
    if hasGrown { return true }
    fruitless += 1
    if fruitless < Self.mostTries { return true }
    given = known
    return false
  }
}
