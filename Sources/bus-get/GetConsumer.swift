import Bus
import Core

/// The consumer that the records come from: one that getters share, found or made, or one of our
/// own, made anew whenever it is not what it was.
final class GetConsumer {
  private enum Step {
    case none
    case finding(since: Double)
    case looking(since: Double)
    case making(since: Double)
    case waiting(until: Double)
    case ready(name: String)
  }

  private let stream: BusStream
  private let plan: BusConsumerPlan
  private let diagnostics: Diagnostics
  private var step = Step.none
  private var asked = 0
  /// How long there may be no stream, seconds; nil for ever; and since when there is none.
  private let maxWait: Double?
  private var missedSince: Double?
  private var backoff = Backoff(base: 0.1, factor: 2, cap: 2, jitter: 0.3)
  /// When the stream was made whose records were read; nil where that is not known.
  private(set) var origin: String?
  /// When the last record was stored that is known of that stream.
  private var storedAt: Timestamp?
  /// The last record that came, of a consumer of our own: the next one begins behind it.
  var last = 0
  /// How many of the newest records are wanted, and the search for the first of them.
  private let newest: Int?
  private var search: LastSearch?
  private var skips = 0
  private var hasBegun = false
  private var isRemade = false
  /// How often in a row one was made that begins before what was read.
  private var behind = 0
  private var order = 0
  private(set) var pendingAtStart: Int?
  /// The stream's number of the last record that it had delivered then.
  private(set) var deliveredAtStart = 0
  /// When it gives a record again that nobody acknowledged, seconds.
  private(set) var ackWait: Double
  private(set) var limits = BusPull.Limits()
  /// Where one that is shared goes on if it has gone: at the first record that was not settled.
  var goesOnAt: Int?

  /// How long an answer may take, seconds.
  private static let patience = 5.0
  /// How often a copy of the stream may be behind before it is taken for another stream.
  private static let mostBehind = 10

  init(
    _ stream: BusStream, _ options: GetOptions, _ state: GetState?,
    _ diagnostics: Diagnostics
  ) {
    (self.stream, plan) = (stream, options.plan)
    (last, hasBegun) = (state?.sequence ?? 0, state?.hasBegun ?? false)
    (newest, maxWait) = (options.newest, options.bus.maxWait)
    (origin, storedAt) = (state?.origin, state?.storedAt)
    self.diagnostics = diagnostics
    ackWait = options.plan.ackWait
  }

  var name: String? { if case .ready(let name) = step { name } else { nil } }

  var isOwn: Bool { plan.durable == nil }

  var owed: Double? {
    switch step {
    case .finding(let since), .looking(let since), .making(let since): since
    default: nil
    }
  }

  var due: Double {
    switch step {
    case .finding(let since), .looking(let since), .making(let since): since + Self.patience
    case .waiting(let until): until
    case .none: 0
    case .ready: .infinity
    }
  }

  /// The link is lost; one of our own is not looked for again.
  func lose() { step = .none }

  func renew(now: Double, _ reason: String) {
    diagnostics.note("consumer: \(reason)")
    step = .waiting(until: now + backoff.next(random: Double.random(in: 0..<1)))
  }

  func turn(now: Double) {
    switch step {
    case .none: begin(now: now)
    case .waiting(let until): if now >= until { begin(now: now) }
    case .finding(let since), .looking(let since), .making(let since):
      if now >= since + Self.patience { renew(now: now, "no answer") }
    case .ready: break
    }
  }

  private func begin(now: Double) {
    if let durable = plan.durable {
      send(.consumerInfo(stream.name, durable))
      step = .finding(since: now)
    } else {
      goOn(now: now)
    }
  }

  /// Makes one, but goes on in no other stream than the one that was read.
  private func goOn(now: Double) {
    guard stream.created != nil, origin != nil || base > 0 else { return make(now: now) }
    send(.streamInfo(stream.name))
    step = .looking(since: now)
  }

  private var base: Int { isOwn ? last : (goesOnAt ?? 1) - 1 }

  private func make(now: Double) {
    var plan = plan
    if let search, last == 0 {
      plan.start = .sequence(search.start)
    } else if isOwn, last > 0 || hasBegun && plan.start == .new {
      plan.start = .sequence(last + 1)
    } else if !isOwn, let goesOnAt {
      plan.start = .sequence(goesOnAt)
      isRemade = true
    }
    order = 0
    send(.createConsumer(stream.name, plan))
    step = .making(since: now)
  }

  private func send(_ request: BusRequest) {
    asked += 1
    stream.connection?.ask(request, answerTo: "c\(asked)")
  }

  func receive(_ message: BusMessage, now: Double) throws(Failure) {
    guard owed != nil, message.token == "c\(asked)" else { return }
    let answer = BusAnswer(message)
    if let fault = answer.fault {
      if case .finding = step, fault.number == BusAnswer.Fault.noConsumer {
        goOn(now: now)
      } else if fault.mayPass || fault.number == BusAnswer.Fault.noStream {
        try miss(fault, now: now)
        renew(now: now, fault.reason)
      } else {
        throw Failure(plan.durable.map { "consumer \($0)" } ?? "consumer", fault.reason)
      }
      return
    }
    guard case .looking = step else { return try found(answer, now: now) }
    if base > 0, isAnother(answer) { throw remade(answer.lastSequence) }
    origin = answer.created
    make(now: now)
  }

  /// Whether the stream is not the one that was read. Servers of a cluster may say several times
  /// for one: who asks for a stream before they have a leader asks again, and each notes the
  /// request that it came to first. None of these is behind a record.
  private func isAnother(_ answer: BusAnswer) -> Bool {
    if base > answer.lastSequence ?? base { return true }
    guard let origin, origin != answer.created else { return false }
    guard answer.hasCopies, let storedAt,
      let made = answer.created.flatMap({ Timestamp(rfc3339: $0) })
    else { return true }
    return made > storedAt
  }

  /// What was read of a stream that is gone says nothing about this one.
  private func remade(_ end: Int?) -> Failure {
    let what = pendingAtStart == nil ? "the state" : "what was read"
    let words =
      if let end, end < base {
        "it ends at \(end), and \(what) at \(base)"
      } else {
        "it was made anew, and \(what) at \(base) is of the one before"
      }
    return Failure("stream \(stream.name)", words)
  }

  /// Gives up when there was no stream for too long; who may not look at it is told so only here.
  private func miss(_ fault: BusAnswer.Fault, now: Double) throws(Failure) {
    guard fault.number == BusAnswer.Fault.noStream else { return }
    let since = missedSince ?? now
    missedSince = since
    guard let maxWait, now >= since + maxWait else { return }
    throw Failure("stream \(stream.name)", fault.reason, maxWait == 0 ? .failure : .temporary)
  }

  private func found(_ answer: BusAnswer, now: Double) throws(Failure) {
    guard let name = answer.consumer else { return }
    // An old server ignores what it does not know, and would deliver everything.
    let filters = answer.filters
    guard plan.subjects.isEmpty || Set(filters) == Set(plan.subjects) else {
      if plan.subjects.count > 1, filters.isEmpty {
        throw Failure(
          stream.link.server.url, "several subjects need a server of version 2.10 or later")
      }
      let has = filters.isEmpty ? "all subjects" : filters.joined(separator: " ")
      throw Failure("consumer \(name)", "it is for \(has)")
    }
    if answer.pushes { throw Failure("consumer \(name)", "it is one that pushes") }
    // A consumer that is to begin behind the end begins at the end. Where servers have copies, it
    // may be made at one that is behind: then the look before it decides. Who may not look
    // believes it when it comes again and again.
    if isOwn || isRemade, let end = answer.delivered, end < base, stream.created == nil {
      behind += 1
      guard answer.isOfCluster, behind < Self.mostBehind else { throw remade(end) }
      return renew(now: now, "it begins at \(end), behind \(base)")
    }
    behind = 0
    isRemade = false
    limits = answer.limits
    if let wait = answer.ackWait, wait > 0 { ackWait = wait }
    if isOwn, !hasBegun, last == 0, plan.start == .new {
      let end = answer.delivered ?? 0
      if let newest {
        guard let found = search?.receive(answer.pending ?? 0) else {
          search = search ?? LastSearch(newest, end: max(0, end))
          // Nobody answers to this token.
          stream.connection?.ask(.deleteConsumer(stream.name, name), answerTo: "d")
          return make(now: now)
        }
        skips = found
      } else {
        // One that begins with what is new begins there again.
        last = end
      }
    }
    if pendingAtStart == nil {
      (pendingAtStart, deliveredAtStart) = (answer.pending, answer.delivered ?? 0)
    }
    hasBegun = true
    if origin == nil { (origin, storedAt) = (stream.created, stream.lastTime) }
    missedSince = nil
    step = .ready(name: name)
    backoff.reset()
  }

  /// Whether a record of a consumer of our own is the next one; else the consumer is renewed.
  func takes(_ place: BusPlace, now: Double) -> Bool {
    storedAt = place.time
    guard isOwn else { return true }
    guard name != nil else { return false }
    guard place.order == order + 1 else {
      renew(now: now, "record \(order + 1) is missing")
      return false
    }
    order += 1
    guard place.sequence > last else { return false }
    last = place.sequence
    if skips > 0 {
      skips -= 1
      return false
    }
    return true
  }
}

/// The search for the newest records of some subjects, of which the server only tells how many
/// there are from a number on: further back by leaps, and then closer by halves.
struct LastSearch {
  private let wanted: Int
  private let end: Int
  private(set) var start: Int
  /// The lowest number from which there are too few, and the highest from which there are enough.
  private var few: Int
  private var enough = 0

  private static let leap = 4
  /// More than are wanted are read and thrown away, up to so many: that is sooner done than asked.
  private static let slack = 1000

  init(_ wanted: Int, end: Int) {
    (self.wanted, self.end) = (wanted, end)
    start = max(1, end - wanted + 1)
    few = end + 1
  }

  /// Takes an answer. Returns how many of the first of these are not wanted; nil when `start` is to
  /// be asked about again.
  mutating func receive(_ count: Int) -> Int? {
    if count < wanted {
      if start <= 1 { return 0 }
      few = start
    } else {
      enough = start
      if count - wanted <= max(wanted, Self.slack) || few - start <= 1 { return count - wanted }
    }
    let back = end - few + 1
    if enough > 0 {
      start = (enough + few) / 2
    } else {
      start = back > end / Self.leap ? 1 : max(1, end - back * Self.leap)
    }
    return nil
  }
}
