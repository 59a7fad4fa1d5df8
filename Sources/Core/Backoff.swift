/// Waiting times between tries: exponential growth with jitter that only adds.
///
/// The wait before try n after the last success is in
/// [d, d × (1 + jitter)] with d = min(base × factorⁿ, cap), so that a base
/// which the other side asked for (the `retry` field of WHATWG HTML 9.2.5) is
/// never undercut. Randomness is passed in; the clock is the caller's.
public struct Backoff: Sendable {
  /// The first wait, seconds.
  public private(set) var base: Double
  /// What each further wait is multiplied by.
  public let factor: Double
  /// The longest wait without jitter, seconds; never below `base`.
  public let cap: Double
  /// The largest part that randomness adds.
  public let jitter: Double
  private var failures = 0

  /// - Parameters:
  ///   - base: seconds, 0 or more.
  ///   - factor: 1 or more.
  ///   - cap: seconds.
  ///   - jitter: 0.3 adds up to 30 %.
  public init(base: Double = 3, factor: Double = 2, cap: Double = 60, jitter: Double = 0.3) {
    self.base = base
    self.factor = factor
    self.cap = cap
    self.jitter = jitter
  }

  /// The wait before the next try, seconds; each call counts a failure.
  ///
  /// - Parameter random: a number in [0, 1).
  public mutating func next(random: Double) -> Double {
    var wait = base
    let limit = max(cap, base)
    for _ in 0..<min(failures, 64) where wait < limit { wait *= factor }
    failures += 1
    return min(wait, limit) * (1 + jitter * random)
  }

  /// Starts over after a success.
  public mutating func reset() { failures = 0 }

  /// The failures since the last success.
  public var count: Int { failures }

  /// Takes a new first wait, as a server may ask for one.
  ///
  /// - Parameter base: seconds.
  public mutating func setBase(_ base: Double) { self.base = base }
}
