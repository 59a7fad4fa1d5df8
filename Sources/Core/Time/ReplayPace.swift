/// When the records of a recording are due that are played again: the first at once, the others
/// as much later as they were, divided by the speed.
public struct ReplayPace {
  private let speed: Double
  private var first: (time: Timestamp, at: Double)?

  /// - Parameter speed: times as fast; 0 waits for nothing.
  public init(speed: Double) { self.speed = speed }

  /// When a record is due, `Clock.monotonic`; nil for at once, as one without a time is.
  public mutating func due(_ time: Timestamp?, at clock: Double) -> Double? {
    guard speed > 0, let time else { return nil }
    guard let first else {
      self.first = (time, clock)
      return nil
    }
    let (seconds, isHuge) = time.seconds.subtractingReportingOverflow(first.time.seconds)
    guard !isHuge, seconds >= 0 else { return nil }
    // Beyond a year nobody waits.
    let rest = Double(time.nanoseconds - first.time.nanoseconds) / 1e9
    return first.at + min((Double(seconds) + rest) / speed, 31_536_000)
  }
}
