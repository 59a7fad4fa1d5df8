import Core

/// What is known of a link that gets lost and is made again: how often it failed in a
/// row, since when it is down, how long to wait.
public struct Reconnect: Sendable {
  private var backoff: Backoff
  private let maxRetries: Int?
  private var failures = 0
  private var lostAt: Double?
  private var wasOpen = false

  public init(_ policy: StreamPolicy) {
    backoff = Backoff(base: policy.retryWait, cap: policy.retryCap)
    maxRetries = policy.maxRetries
  }

  /// Counts a failure: no connection, or the end of one.
  ///
  /// - Parameters:
  ///   - now: seconds of `Clock.monotonic`.
  ///   - least: what the server asked to wait, seconds.
  ///   - random: a number in [0, 1) for the jitter.
  /// - Returns: the wait before the next try, seconds; nil when the tries are used up.
  public mutating func failed(
    now: Double, after least: Double? = nil, random: Double = Double.random(in: 0..<1)
  ) -> Double? {
    if lostAt == nil { lostAt = now }
    failures += 1
    if let maxRetries, failures > maxRetries { return nil }
    return max(backoff.next(random: random), least ?? 0)
  }

  /// A connection is open.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: whether it is the first, and for how long the link was down before it,
  ///   seconds; nil when it was not.
  public mutating func opened(now: Double) -> (isFirst: Bool, down: Double?) {
    defer {
      lostAt = nil
      wasOpen = true
    }
    return (!wasOpen, down(now: now))
  }

  /// Something came that shows the connection to be of use: counting starts over.
  public mutating func succeeded() {
    if failures == 0 { return }
    failures = 0
    backoff.reset()
  }

  /// For how long the link is down, seconds; nil while it is not.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  public func down(now: Double) -> Double? { lostAt.map { now - $0 } }

  /// Takes the first wait that a server asks for.
  ///
  /// - Parameter seconds: as in `Backoff.setBase`, which bounds it.
  public mutating func setFirstWait(_ seconds: Double) { backoff.setBase(seconds) }
}
