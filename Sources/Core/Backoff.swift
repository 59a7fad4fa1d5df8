/// Waiting times between tries: exponential growth with jitter that only adds.
///
/// The wait before try n after the last success is in
/// [d, d × (1 + jitter)] with d = min(base × factorⁿ, max(cap, base)), so that a
/// base which the other side asked for (the `retry` field of WHATWG HTML 9.2.5)
/// is never undercut. Randomness is passed in; the clock is the caller's.
public struct Backoff: Sendable {
  /// The shortest wait, seconds: `retry: 0` does not allow hammering a server.
  public static let shortest = 0.05
  /// The longest base, seconds (11 days): in milliseconds, jitter and all, it
  /// still fits what poll(2) takes.
  public static let longest = 1e6

  /// The first wait, seconds, from `shortest` to `longest`.
  public private(set) var base: Double
  /// What each further wait is multiplied by.
  public let factor: Double
  /// The longest wait without jitter, seconds, where `base` is not longer.
  public let cap: Double
  /// The largest part that randomness adds.
  public let jitter: Double
  private var failures = 0

  /// - Parameters:
  ///   - base: seconds; what is not from `shortest` to `longest` becomes that.
  ///   - factor: 1 or more.
  ///   - cap: seconds, at most `longest`.
  ///   - jitter: 0.3 adds up to 30 %.
  public init(base: Double = 3, factor: Double = 2, cap: Double = 60, jitter: Double = 0.3) {
    self.base = Self.clamp(base)
    self.factor = max(1, factor)
    self.cap = Self.clamp(cap)
    self.jitter = min(max(0, jitter), 1)
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
  /// - Parameter base: seconds; what is not from `shortest` to `longest` becomes that.
  public mutating func setBase(_ base: Double) { self.base = Self.clamp(base) }

  /// Not a number counts as 0.
  private static func clamp(_ seconds: Double) -> Double {
    seconds > shortest ? min(seconds, longest) : shortest
  }
}
