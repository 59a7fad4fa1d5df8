import CLibc
public import Core

/// A stream on a bus, through whichever server has it: links, finds the stream or makes it, says
/// what is amiss, and gives up when that lasts too long.
public final class BusStream {
  /// What became of it in a turn.
  public enum Change {
    /// The stream is there: records can be published and asked for.
    case ready
    /// The link is lost, and all that was under way.
    case lost
  }

  private enum Step {
    case down
    case asking(since: Double)
    case making(since: Double)
    case waiting(until: Double)
    case ready
  }

  /// The link to the servers.
  public let link: BusLink
  /// The connection, if there is one.
  public var connection: BusConnection? { link.connection }
  /// The stream's name.
  public let name: String
  /// How long it remembers message ids, seconds.
  public private(set) var idWindow = BusStream.usualIDWindow
  private let options: BusOptions
  private let plan: BusStreamPlan?
  private let diagnostics: Diagnostics
  private var step = Step.down
  private var backoff = Backoff(base: 0.1, factor: 2, cap: 2, jitter: 0.3)
  private var asked = 0
  private var downSince: Double?
  /// Since when no link brought anything, though it came up; and since when it is up.
  private var (vainSince, readySince): (Double?, Double) = (nil, 0)
  private var wasReady = false
  private var said = ""
  private var trouble: Failure?
  private var seenRefusal = ""

  /// How long an answer may take, seconds.
  private static let patience = 5.0
  /// What a server takes where nobody says how long ids are remembered, seconds.
  private static let usualIDWindow = 120.0

  /// - Parameters:
  ///   - plan: how the stream is made where there is none; nil to wait for it.
  ///   - pulling: whether records will be pulled.
  public init(
    _ options: BusOptions, _ door: BusAuth, plan: BusStreamPlan? = nil, pulling: Bool = false,
    diagnostics: Diagnostics
  ) {
    (self.options, self.plan, self.diagnostics) = (options, plan, diagnostics)
    name = door.stream ?? BusOptions.usualStream
    link = BusLink(door, name: diagnostics.program, pulling: pulling)
    downSince = Clock.monotonic
  }

  /// The number of the last record when the link came up; nil where we may not look.
  public private(set) var lastSequence: Int?
  /// When that was stored; nil where we may not look.
  public private(set) var lastTime: Timestamp?
  /// When it was made; nil where we may not look.
  public private(set) var created: String?
  /// Whether other servers have copies of it. A consumer may be at one that is behind: that
  /// nothing is left there says nothing about the stream before its last record was there.
  public private(set) var hasCopies = false

  /// Whether the stream is there.
  public var isReady: Bool { if case .ready = step { true } else { false } }

  /// The server did what it was asked for. A link that is lost before that is as good as none,
  /// unless it was up for as long as there may be none.
  public func served() { vainSince = nil }

  /// Does what can be done without waiting.
  ///
  /// - Parameters:
  ///   - now: seconds of the clock of `Clock.monotonic`.
  ///   - owed: since when the server owes an answer to the caller; nil for none.
  /// - Throws: `Failure` when there is nothing to wait for, or no longer.
  public func turn(now: Double, owed: Double?) throws(Failure) -> Change? {
    let change = try link.turn(now: now, owed: owed)
    if let refusal = connection?.refusal, refusal != seenRefusal {
      seenRefusal = refusal
      if try passes(refusal), !isReady { return becomeReady(now: now) }
    }
    switch change {
    case .up:
      seenRefusal = ""
      ask(now: now)
    case .lost(let reason): return try lost(reason, now: now)
    case .unreachable(let failure, _): try amiss(failure, now: now, hint: true)
    case nil: break
    }
    if let since = downSince, let most = options.maxWait, most > 0, now >= since + most {
      throw trouble ?? Failure(link.server.url, "no answer", .temporary)
    }
    return try advance(now: now)
  }

  /// When the next turn is due at the latest.
  public func due(now: Double) -> Double {
    var due = Double.infinity
    if let since = downSince, let most = options.maxWait { due = since + most }
    switch step {
    case .asking(let since), .making(let since): due = min(due, since + Self.patience)
    case .waiting(let until): due = min(due, until)
    case .down, .ready: break
    }
    return due
  }

  private func advance(now: Double) throws(Failure) -> Change? {
    switch step {
    case .down, .ready: return nil
    case .waiting(let until):
      if now >= until { ask(now: now) }
      return nil
    case .asking(let since), .making(let since):
      while let arrival = connection?.answer() {
        switch arrival {
        case .noResponders:
          let reason = "the server has no JetStream"
          try amiss(Failure(link.server.url, reason, .temporary), now: now, hint: true)
          return nil
        case .message(let message):
          guard message.token == "s\(asked)" else { continue }
          return try answered(BusAnswer(message), now: now)
        }
      }
      guard now >= since + Self.patience else { return nil }
      try amiss(Failure(what, "no answer: it may have no leader yet", .temporary), now: now)
      return nil
    }
  }

  private var what: String { "stream \(name)" }

  private func ask(now: Double) {
    send(.streamInfo(name))
    step = .asking(since: now)
  }

  private func send(_ request: BusRequest) {
    asked += 1
    connection?.ask(request, answerTo: "s\(asked)")
  }

  private func answered(_ answer: BusAnswer, now: Double) throws(Failure) -> Change? {
    let isMaking = if case .making = step { true } else { false }
    guard let fault = answer.fault else {
      if isMaking, let other = plan?.difference(in: answer) {
        throw Failure(
          what, "the server made it, but not with the \(other) that were asked for")
      }
      idWindow = answer.idWindow ?? Self.usualIDWindow
      (lastSequence, hasCopies) = (answer.lastSequence, answer.hasCopies)
      (created, lastTime) = (answer.created, answer.lastTime)
      return becomeReady(now: now)
    }
    if fault.number == BusAnswer.Fault.noStream, let plan, !isMaking {
      send(.createStream(name, plan))
      step = .making(since: now)
      return nil
    }
    // Somebody else was quicker.
    if fault.number == BusAnswer.Fault.streamExists, isMaking {
      ask(now: now)
      return nil
    }
    let failure: Failure
    switch fault.number {
    case BusAnswer.Fault.noStream:
      // Nothing makes it by itself: whoever does not wait is told that it is missing.
      let status: ExitStatus = options.maxWait == 0 ? .failure : .temporary
      failure = Failure(what, "no such stream; bus-put --create makes one", status)
    case BusAnswer.Fault.noLeader: failure = Failure(what, "no leader yet", .temporary)
    case let number where BusAnswer.Fault.notEnabled.contains(number):
      failure = Failure(link.server.url, "no JetStream for this account", .temporary)
    default:
      failure = Failure(what, fault.reason, fault.mayPass ? .temporary : .failure)
      if !fault.mayPass { throw failure }
    }
    try amiss(failure, now: now)
    return nil
  }

  private func becomeReady(now: Double) -> Change {
    if let since = downSince, !said.isEmpty {
      let seconds = Int((now - since).rounded())
      tell("\(link.server.url): \(wasReady ? "back" : "open") after \(seconds) s")
    } else {
      diagnostics.note("\(link.server.url): open, \(what)")
    }
    (vainSince, readySince) = (vainSince ?? downSince, now)
    (step, said, trouble, downSince, wasReady) = (.ready, "", nil, nil, true)
    backoff.reset()
    link.isGood()
    return .ready
  }

  private func lost(_ reason: String, now: Double) throws(Failure) -> Change? {
    let before = step
    step = .down
    let failure = Failure(link.server.url, "link lost: \(BusDial.lower(reason))", .temporary)
    if case .ready = before {
      if vainSince != nil, options.maxWait == 0 { throw failure }
      if now >= readySince + (options.maxWait ?? 0) { vainSince = nil }
      downSince = vainSince ?? now
      said = failure.message
      tell(said)
      trouble = failure
      return .lost
    }
    if downSince == nil { downSince = now }
    try amiss(failure, now: now)
    return nil
  }

  /// Says what is amiss, once, and waits.
  private func amiss(_ failure: Failure, now: Double, hint: Bool = false)
    throws(Failure)
  {
    trouble = failure
    if options.maxWait == 0 { throw failure }
    // One line when the link is lost, no more; what is amiss at the start may change.
    if !wasReady, said != failure.message {
      let isPerson = isatty(2) == 1
      tell(failure.message + (hint && isPerson ? "; bus-up starts a server" : "; waiting"))
    }
    if said.isEmpty || !wasReady { said = failure.message }
    step =
      connection != nil
      ? .waiting(until: now + backoff.next(random: Double.random(in: 0..<1))) : .down
  }

  /// Whether we can do without what the server forbade: a look whether the stream is there.
  private func passes(_ words: String) throws(Failure) -> Bool {
    if words.holds("\"$JS.API.STREAM.INFO."), plan == nil {
      diagnostics.note("\(what): the server does not let us look at it")
      return true
    }
    throw Failure(link.server.url, BusDial.lower(words), .denied)
  }

  private func tell(_ words: String) {
    if !options.isQuiet { diagnostics.say(words) }
  }
}
