import Core

/// After some wrong secrets in a minute the next ones are not even looked at.
struct FailureCount {
  private static let limit = 10
  private static let span = 60_000
  private static let mostNames = 1000

  private var failures: [String: (count: Int, since: Int)] = [:]

  /// How long somebody has to wait, milliseconds; nil for who may try.
  func wait(_ name: String, now: Int) -> Int? {
    guard let known = failures[name], known.count >= Self.limit, now - known.since < Self.span
    else { return nil }
    return known.since + Self.span - now
  }

  mutating func note(_ name: String, now: Int) {
    if let known = failures[name], now - known.since < Self.span {
      failures[name] = (known.count + 1, known.since)
      return
    }
    if failures.count >= Self.mostNames {
      failures = failures.filter { now - $0.value.since < Self.span }
    }
    // So many at a time are no misunderstanding: all of them begin again.
    if failures.count >= Self.mostNames { failures = [:] }
    failures[name] = (1, now)
  }
}
