import CLibc
import Core
import Web

/// How long a server is asked for one thing, and how often.
public struct PDSLimits: Sendable {
  /// Seconds for a call with all its tries.
  let timeout: Double
  /// The most tries after the first.
  let maxRetries: Int
  /// The option that sets the time.
  let option: String

  /// A minute, seven tries, where nothing else is given.
  public init(timeout: Double? = nil, maxRetries: Int? = nil, option: String = "--timeout") {
    (self.timeout, self.maxRetries, self.option) = (timeout ?? 60, maxRetries ?? 6, option)
  }
}

/// Calls of a server, one at a time, each asked again while the server is busy or away.
final class XRPCLine {
  typealias Reply = Result<(head: ResponseHead, body: [UInt8]), XRPCError>

  /// The longest wait for one answer, seconds.
  private static let longestTry = 30.0
  /// The largest answer, bytes: a hundred records.
  private static let largest = 128 << 20

  private let client: WebClient
  private let limits: PDSLimits
  private let diagnostics: Diagnostics
  private var deadline = 0.0
  /// The tries so far of which nobody knows whether they arrived.
  private(set) var unanswered = 0
  /// Whether the last call was answered by a page.
  private(set) var metPage = false
  /// How often a server fails at something to be read before it is taken for good.
  private static let mostFaultsOfReads = 3

  init(_ client: WebClient, _ limits: PDSLimits, _ diagnostics: Diagnostics) {
    (self.client, self.limits, self.diagnostics) = (client, limits, diagnostics)
  }

  /// Calls, and waits. Whatever is sent here must do no harm when it arrives twice.
  ///
  /// - Parameter isAny: whether an answer may be anything, also a page.
  func call(
    _ request: Request, mostFaults: Int = .max, isAny: Bool = false
  ) throws(Failure) -> Reply {
    var faults = 0
    metPage = false
    let place = request.address.display
    deadline = Clock.monotonic + limits.timeout
    var backoff = Backoff(base: 1, cap: 60, jitter: 0.1)
    while true {
      var reason: String
      var wait: Double?
      diagnostics.note("\(request.method) \(place)")
      let start = Clock.monotonic
      var fetches = Fetches(
        CallWaiter(client), [request], limit: Self.largest,
        until: min(deadline, start + Self.longestTry))
      switch try? fetches.next()?.end {
      case .failed(let words): reason = words
      case .late, nil:
        let seconds = Latency.seconds((Clock.monotonic - start).rounded())
        reason = "no whole answer in \(seconds) s"
      case .unusable(let failure): throw Failure(place, failure)
      case .response(let head, let body):
        // Where a call with a secret would go on; it does not follow.
        let target = head.isRedirect ? head.value("Location") : nil
        let origin = target.flatMap { try? request.address.resolving($0).origin }
        let isElsewhere = origin != nil && origin != request.address.origin
        if isElsewhere, ![302, 303].contains(head.status) {
          throw Failure(place, "\(head.summary): bad location: to another server", .failure)
        }
        // Neither asks for the same call again: so a portal leads to its own page.
        let isPage = isElsewhere || XRPCError.isPage(head, body)
        if (200...299).contains(head.status), isAny || !isPage { return .success((head, body)) }
        let error = XRPCError(head, body, now: Clock.unix)
        // What comes is not from the server, who is as good as away.
        if isPage, !error.isTransient {
          metPage = true
          let words = isElsewhere ? "\(head.summary): to another server" : error.line
          throw Failure(place, words, .temporary)
        }
        if !error.isTransient { return .failure(error) }
        if error.status == 500 { faults += 1 }
        let isForGood = error.isInternal && request.method == "GET"
        if faults >= (isForGood ? min(mostFaults, Self.mostFaultsOfReads) : mostFaults) {
          return .failure(error)
        }
        (reason, wait) = (error.line, error.wait)
      }
      unanswered += 1
      // No server is asked again at once, even where it says so.
      let pause = max(wait ?? 0, backoff.next(random: Double.random(in: 0..<1)))
      try pauseOrGiveUp(pause, tries: backoff.count, place, reason)
    }
  }

  private func pauseOrGiveUp(
    _ pause: Double, tries: Int, _ place: String, _ reason: String
  ) throws(Failure) {
    if tries > limits.maxRetries {
      throw Failure(place, "gave up after \(tries - 1) retries: \(reason)", .temporary)
    }
    guard Clock.monotonic + pause < deadline else {
      let words = "again in \(Int(pause.rounded(.up))) s, too late for \(limits.option)"
      throw Failure(place, "\(reason) (\(words))", .temporary)
    }
    diagnostics.note("\(place): \(reason); again in \(Latency.short(pause)) s")
    let until = Clock.monotonic + pause
    while case let left = until - Clock.monotonic, left > 0 {
      usleep(UInt32(min(left, 60) * 1_000_000))
      Self.handleSignals()
    }
  }

  private final class CallWaiter: Waiter {
    override var files: [pollfd] { Self.reading(EndSignals.descriptor) }
    override func hasWaited() { XRPCLine.handleSignals() }
  }

  /// A call has nothing to leave in order: a signal that is watched ends the process here, too.
  private static func handleSignals() {
    if let signal = EndSignals.next() { Process.die(by: signal) }
  }
}
