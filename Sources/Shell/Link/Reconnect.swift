import Core

/// When to try again once a link is lost: the one place that decides it.
public struct Reconnect {
  /// Whether the host has answered at least once.
  public private(set) var hasAnswered = false
  /// Since when it has not.
  public private(set) var downSince: Double?
  /// Failed tries since the link was up last, the one that goes on not counted.
  public var failures: Int { backoff.count }
  private let maxRetries: Int?
  private var backoff = Backoff(base: 1, factor: 2, cap: 15, jitter: 0)

  /// - Parameter maxRetries: failed tries in a row before it is given up; nil for no end.
  public init(maxRetries: Int?) { self.maxRetries = maxRetries }

  /// The host has answered.
  ///
  /// - Returns: for how many seconds the link was down; nil when it was not.
  @discardableResult
  public mutating func answered() -> Double? {
    defer { downSince = nil }
    hasAnswered = true
    backoff.reset()
    return downSince.map { Clock.monotonic - $0 }
  }

  /// The link ended, or a try failed.
  ///
  /// - Returns: seconds until the next try.
  /// - Throws: the failure, when no other try is to be made.
  public mutating func lost(_ failure: HostFailure) throws(HostFailure) -> Double {
    guard failure.isWorthRetry(afterSuccess: hasAnswered),
      maxRetries.map({ failures < $0 }) ?? true
    else { throw failure }
    downSince = downSince ?? Clock.monotonic
    return backoff.next(random: 0)
  }

  /// Waits out the time until the next try.
  public static func pause(until: Double) throws(HostFailure) {
    while Clock.monotonic < until {
      var set = PollSet()
      try PollSet.wait(&set, until: until)
    }
  }
}
