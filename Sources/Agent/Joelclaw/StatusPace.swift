/// When a gateway is to be asked for its status. It tells nothing of it by itself. No clock.
struct StatusPace {
  /// When to ask, seconds of `Clock.monotonic`; infinite for not at all.
  private(set) var due = Double.infinity
  private var wait = first
  private var last = -Double.infinity

  private static let (first, longest) = (0.25, 4.0)
  /// The least between two questions, seconds.
  private static let least = 0.05

  /// The next question is due after `delay` seconds, the one after it after `wait`, then twice.
  mutating func begin(_ now: Double, after delay: Double = first, then wait: Double = first) {
    due = min(due, max(now + delay, last + Self.least))
    self.wait = wait
  }

  /// It was asked for. An answer that never comes is asked for again.
  mutating func asked(_ now: Double) { (last, due) = (now, now + Self.longest) }

  /// The answer came, and is not the one that is waited for. What has happened since it was
  /// asked for is asked for when it is due.
  mutating func answered(_ now: Double) {
    due = min(due, now + wait)
    wait = min(wait * 2, Self.longest)
  }

  mutating func stop() { due = .infinity }
}
