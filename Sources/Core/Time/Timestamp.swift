import CLibc

/// An instant, to the nanosecond, on the scale of UTC without leap seconds
/// (POSIX time).
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z, rounded down.
  public let seconds: Int64
  /// 0 to 999 999 999, after `seconds`.
  public let nanoseconds: Int32

  /// - Parameters:
  ///   - seconds: since 1970, rounded down.
  ///   - nanoseconds: 0 to 999 999 999.
  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// The clock of the system.
  public static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }

  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    a.seconds != b.seconds ? a.seconds < b.seconds : a.nanoseconds < b.nanoseconds
  }

  /// This instant, so much later; earlier when the duration is below zero.
  /// Stops at the ends of the scale.
  public func adding(_ duration: Duration) -> Timestamp {
    let (more, attoseconds) = duration.components
    var (sum, overflow) = seconds.addingReportingOverflow(more)
    if overflow { return Timestamp(seconds: more < 0 ? .min : .max) }
    var nanoseconds = Int64(nanoseconds) + attoseconds / 1_000_000_000
    if nanoseconds < 0 { (sum, nanoseconds) = (sum &- 1, nanoseconds + 1_000_000_000) }
    if nanoseconds >= 1_000_000_000 { (sum, nanoseconds) = (sum &+ 1, nanoseconds - 1_000_000_000) }
    return Timestamp(seconds: sum, nanoseconds: Int32(nanoseconds))
  }

  /// Days since 1970-01-01 of a date of the Gregorian calendar.
  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years that begin in March put the leap day last; 400 of them repeat.
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The date of a day since 1970-01-01.
  static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
