import Agent
import Core

/// What the backend makes of `--since`: a window of so many hours until now, by its
/// own clock.
extension Moment {
  /// Asked for besides when a time is meant, for the backend reads its clock
  /// later than we read ours, seconds.
  private static let slack = 60.0

  /// The value of `sinceHours`: a decimal number of millionths, above zero.
  func hours(now: Timestamp) -> String {
    let seconds: Double
    switch self {
    case .ago(let duration): seconds = duration / .seconds(1)
    case .time(let time):
      // As doubles: to a microsecond exact, and no distance is too long.
      seconds =
        Double(now.seconds) - Double(time.seconds)
        + Double(now.nanoseconds - time.nanoseconds) / 1e9 + Self.slack
    }
    return ActionPages.hours(seconds)
  }

  /// Whether a row is in the window for sure; one without a time is.
  func holds(_ time: Timestamp?) -> Bool {
    guard case .time(let first) = self, let time else { return true }
    return time >= first
  }
}
