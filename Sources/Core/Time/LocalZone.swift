public import CLibc

/// How far clocks of some place are ahead of UTC, at any instant.
public struct LocalZone: Sendable {
  /// Seconds east of UTC at so many seconds since 1970; nil out of range.
  private let offset: @Sendable (Int64) -> Int64?

  /// - Parameter offset: seconds east of UTC at so many seconds since 1970; nil out of
  ///   range.
  public init(offset: @escaping @Sendable (Int64) -> Int64?) { self.offset = offset }

  /// The user's zone: `TZ`, or the system's.
  public static let system = LocalZone { calendar($0).map { Int64($0.tm_gmtoff) } }

  /// What the calendar of the user's zone shows at so many seconds since 1970; nil out of range.
  public static func calendar(_ seconds: Int64) -> tm? {
    var clock = time_t(seconds)
    var parts = tm()
    return localtime_r(&clock, &parts) == nil ? nil : parts
  }

  /// The date of an instant: days since 1970-01-01.
  func day(of time: Timestamp) -> Int64? {
    guard let shown = shown(time) else { return nil }
    return (shown - (shown % 86_400 + 86_400) % 86_400) / 86_400
  }

  /// What clocks show at an instant, as seconds behind the beginning of 1970 by the clock.
  func shown(_ time: Timestamp) -> Int64? { offset(time.seconds).map { time.seconds + $0 } }

  /// When clocks show a time. mktime(3) leaves open what is meant where they are set
  /// forward or back; here it is as in iCalendar (RFC 5545, 3.3.5), and nothing that is
  /// shown with such a time is left out of what is not older: a time that comes twice is
  /// the first of the two, and one that is passed over counts from the clock of before. Returns nil
  /// out of range.
  func instant(day: Int64, second: Int64) -> Timestamp? {
    let shown = day * 86_400 + second
    // A day away on both sides: no zone is further from UTC, nor changes twice in two.
    guard let before = offset(shown - 86_400), let after = offset(shown + 86_400) else {
      return nil
    }
    let isShown = { (ahead: Int64) in offset(shown - ahead) == ahead }
    return Timestamp(seconds: shown - (isShown(before) || !isShown(after) ? before : after))
  }
}
