public import Core

/// A link that is made again when it is lost: a wire connects, reads, and throws; it is called again
/// after a wait, until nothing more is wanted. Here alone is known what a lost link costs: backoff,
/// what the server asks for, giving up.
open class StreamLoop: Waiter {
  /// How long is waited, and when a connection counts as lost.
  public let policy: StreamPolicy
  /// The address, for messages.
  public let place: String
  /// The address behind redirects, of the connection that was open last.
  public private(set) var openPlace: String
  private let judge: (ResponseHead, [UInt8]) -> Failure?
  /// The id behind which the stream goes on, empty for none.
  public var lastID: [UInt8] = []
  private var backoff: Backoff
  /// When the link was lost that is down, seconds of `Clock.monotonic`.
  private var lostAt: Double?
  private var wasOpen = false
  /// No connection before this time, seconds of `Clock.monotonic`.
  private var nextTry = -Double.infinity

  public init(
    _ client: WebClient, _ place: String, _ policy: StreamPolicy,
    judge: @escaping (ResponseHead, [UInt8]) -> Failure?
  ) {
    (self.place, openPlace, self.policy, self.judge) = (place, place, policy, judge)
    backoff = Backoff(base: policy.retryWait, cap: policy.retryCap)
    super.init(client)
  }

  /// Follows until nothing more comes, or is wanted. It may be called again.
  ///
  /// - Parameter wire: connects, reads, and throws when the connection is gone.
  public final func follow(_ wire: () throws(LinkEnd) -> Never) {
    while !isOver {
      do throws(LinkEnd) {
        while Clock.monotonic < nextTry { try wait(until: nextTry) }
        try wire()
      } catch {
        do throws(LinkEnd) { try handle(error) } catch { return }
      }
    }
  }

  private func handle(_ error: LinkEnd) throws(LinkEnd) {
    switch error {
    case .over: throw .over
    case .noContent: try end(.noContent, at: openPlace)
    case .failed(let problem, let place): try end(.failed(problem), at: place ?? openPlace)
    case .lost(let reason, let least): try lose(reason, after: least)
    case .closed(let code, let reason): try lose(Self.words(code, reason))
    case .waits(let words, let least): try lose(words, after: least, isWaiting: true)
    case .again(let reason): try lose(reason, at: Clock.monotonic)
    case .violated(let reason):
      let what = "the server broke the protocol"
      fault("\(what): \(reason)", at: place)
      try lose(what)
    case .refused(let head, let body):
      let problem = judge(head, body) ?? Failure("\(head.summary): not a WebSocket", .failure)
      guard problem.status == .temporary else { return try end(.failed(problem), at: openPlace) }
      try lose(problem.message, after: head.wait(now: Clock.unix))
    }
  }

  private func lose(
    _ reason: String, after least: Double? = nil, at time: Double? = nil, isWaiting: Bool = false
  ) throws(LinkEnd) {
    let now = Clock.monotonic
    lostAt = lostAt ?? now
    if let most = policy.maxRetries, backoff.count >= most {
      return try end(.gaveUp(reason), at: openPlace)
    }
    // One that has a time of its own counts as a try, too.
    let usual = now + max(backoff.next(random: Double.random(in: 0..<1)), least ?? 0)
    nextTry = time ?? usual
    let wait = max(nextTry - now, 0)
    if isWaiting { waits(reason, wait: wait) } else { lost(reason, wait: wait) }
    // What has happened is told even where no wait is due.
    if time != nil { try self.wait(until: now) }
  }

  /// `the server closed the connection: 1001, going away`.
  private static func words(_ code: UInt16?, _ reason: String) -> String {
    let known = code.map { ": \($0)" } ?? ""
    return "the server closed the connection\(known)" + (reason.isEmpty ? "" : ", \(reason)")
  }

  private func end(_ end: StreamEnd, at place: String) throws(LinkEnd) {
    ended(end, at: place)
    throw .over
  }

  // MARK: - What a wire tells

  /// A connection is open.
  ///
  /// - Parameter place: the address behind redirects.
  public final func opened(_ place: String) {
    openPlace = place
    let (isFirst, down) = (!wasOpen, lostAt.map { Clock.monotonic - $0 })
    (lostAt, wasOpen) = (nil, true)
    opened(place, isFirst: isFirst, down: down)
  }

  /// What came shows the connection to be of use: counting tries starts over. What was received is
  /// no such thing before it was used: it would come back for ever.
  public final func succeeded() { backoff.reset() }

  /// What the server asks to wait before the next try, seconds.
  public final func setFirstWait(_ seconds: Double) { backoff.setBase(seconds) }

  // MARK: - What whoever follows does

  /// A connection is open: the first or a later one; `down` are the seconds since the first failure
  /// before it, nil without one.
  open func opened(_ place: String, isFirst: Bool, down: Double?) {}

  /// The connection is lost, the next is tried in `wait` seconds.
  open func lost(_ reason: String, wait: Double) {}

  /// A person is to let this device in; the next try is in `wait` seconds.
  open func waits(_ words: String, wait: Double) { lost(words, wait: wait) }

  /// Nothing more will come.
  open func ended(_ end: StreamEnd, at place: String) {}

  /// Events were lost: those of these numbers.
  open func missed(_ numbers: ClosedRange<Int64>) {}

  /// Something larger than is wanted was skipped.
  open func oversize(bytes: Int) {}

  /// What a person is to know, and is no fault; one line.
  open func note(_ words: String) {}

  /// Something came that cannot be used; one line.
  open func fault(_ reason: String, at place: String?) {}
}
