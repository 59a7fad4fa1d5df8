/// A point in time as people write it: `2026-03-01T10:00:00Z`, `2026-03-01` (its
/// midnight in UTC), or how long ago it was, `2h`.
public enum Moment: Equatable, Sendable {
  /// So long ago.
  case ago(Duration)
  /// This one.
  case time(Timestamp)

  /// - Parameter text: RFC 3339, a date alone, or what `DurationText` reads.
  /// - Returns: nil for anything else.
  public init?(_ text: String) {
    if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") {
      self = .time(time)
    } else if let duration = DurationText.parse(text) {
      self = .ago(duration)
    } else {
      return nil
    }
  }

  /// The time that is meant.
  public func timestamp(now: Timestamp) -> Timestamp {
    switch self {
    case .ago(let duration): now.adding(.zero - duration)
    case .time(let time): time
    }
  }
}
