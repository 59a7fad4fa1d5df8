import Core

/// When the inbox is drained next. Times are those of `Clock.monotonic`.
struct WatchSchedule {
  /// The next time; at once in the beginning.
  private(set) var next = 0.0
  /// Whether nothing has been drained yet.
  private(set) var isFirst = true
  private var failures = 0
  /// Whether an arrival does not bring the next time nearer.
  private var isHeldBack = false

  /// Seconds between two looks at the folder when nothing hints at a change.
  static let rescan = 30.0
  /// Seconds until a session that is not there is looked for again.
  static let sessionPoll = 3.0
  /// Seconds until files that could not be taken are tried again.
  static let itemRetry = 15.0
  /// Seconds after a link that was lost, the contract's.
  static let waits = [1.0, 2, 4, 8, 15]

  /// Whether it is time.
  func isDue(_ now: Double) -> Bool { now >= next }

  /// Whether a later try may go better.
  static func isWorthWaiting(_ failure: HandoverFailure) -> Bool {
    failure.status == ExitStatus.temporary.rawValue
  }

  /// Plans on after a drain.
  mutating func drained(_ result: Drain.Result, now: Double) {
    isFirst = false
    isHeldBack = false
    if result.failure?.isLinkLost == true {
      next = now + Self.waits[min(failures, Self.waits.count - 1)]
      failures += 1
      isHeldBack = true
      return
    }
    failures = 0
    if result.failure != nil {
      next = now + Self.sessionPoll
    } else {
      next = now + (result.left > 0 ? Self.itemRetry : Self.rescan)
    }
  }

  /// Something came into the folder.
  mutating func hinted(now: Double) {
    if !isHeldBack { next = min(next, now) }
  }
}
