import Core
import Shell

/// Decides what follows the end of a link: another try after a while, or the end.
struct Reconnect {
  /// What to do.
  enum Step: Equatable {
    /// Try again at a time.
    case wait(until: Double)
    /// Leave for good.
    case end
  }

  /// Whether the session has been attached to at least once.
  private(set) var hasAttached = false
  /// Failed tries since the link was up last, the one that goes on not counted.
  private(set) var failures = 0
  private let maxRetries: Int?
  private var backoff = Backoff(base: 1, factor: 2, cap: 15, jitter: 0)

  /// - Parameter maxRetries: failed tries in a row before it is given up; nil for no end.
  init(maxRetries: Int?) {
    self.maxRetries = maxRetries
  }

  /// The session is attached to.
  mutating func attached() {
    hasAttached = true
    failures = 0
    backoff.reset()
  }

  /// The link ended, or a try failed.
  ///
  /// - Parameter now: seconds of a clock that never steps.
  mutating func ended(_ ending: Ending, now: Double) -> Step {
    guard ending.isWorthRetry(afterSuccess: hasAttached) else { return .end }
    if let maxRetries, failures >= maxRetries { return .end }
    failures += 1
    return .wait(until: now + backoff.next(random: 0))
  }
}
