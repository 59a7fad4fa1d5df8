struct BackendLink {
  enum Phase {
    case connecting
    case open
    /// Lost; the next try comes at a time of `Clock.monotonic`, nil when unknown.
    case down(reason: String, since: Double, retryAt: Double?)
    case ended(String)
  }

  enum Mood { case good, odd, bad }

  /// A state that is older is stale, seconds: three of them were missed.
  static let staleAfter = 10.0

  var phase = Phase.connecting
  /// When the last state came, `Clock.monotonic`.
  var stateAt: Double?

  /// It was lost, or could not be had again.
  mutating func lose(_ reason: String, at clock: Double, wait: Double?) {
    var since = clock
    if case .down(_, let first, _) = phase { since = first }
    phase = .down(reason: reason, since: since, retryAt: wait.map { clock + $0 })
  }

  func isStale(at now: Double) -> Bool {
    if case .ended = phase { return false }
    return stateAt.map { now - $0 >= Self.staleAfter } ?? false
  }

  /// One word for machines: `live`, `connecting`, `stale`, `down`, `ended`.
  func word(at now: Double) -> String {
    switch phase {
    case .connecting: "connecting"
    case .open: isStale(at: now) ? "stale" : "live"
    case .down: isStale(at: now) ? "stale" : "down"
    case .ended: "ended"
    }
  }

  func words(at now: Double) -> (text: String, mood: Mood) {
    let age = stateAt.map { "state \(Self.seconds(now - $0)) old" }
    switch phase {
    case .connecting: return ("connecting", .odd)
    case .open:
      guard let age else { return ("live, no state yet", .odd) }
      return isStale(at: now) ? ("stale: \(age)", .bad) : ("live, \(age)", .good)
    case .down(let reason, let since, let retryAt):
      var text = (isStale(at: now) ? "stale: " : "") + "down for \(Self.seconds(now - since))"
      if let retryAt {
        let wait = retryAt - now
        text += wait > 0 ? ", next try in \(Self.seconds(wait.rounded(.up)))" : ", trying"
      }
      if let age { text += ", \(age)" }
      return ("\(text): \(reason)", .bad)
    case .ended(let reason): return (reason, .odd)
    }
  }

  /// Whole seconds, minutes above two of them: `7 s`, `3 min`.
  private static func seconds(_ value: Double) -> String {
    let seconds = Int64(min(max(value, 0), 1e9))
    return seconds < 120 ? "\(seconds) s" : "\(seconds / 60) min"
  }
}
