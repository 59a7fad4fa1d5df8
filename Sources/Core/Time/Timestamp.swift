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
    (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
  }

  init?(epoch text: String) {
    let parts = text.utf8.split(separator: 0x2e, maxSplits: 1, omittingEmptySubsequences: false)
    let (whole, decimals) = (parts[0], parts.count > 1 ? parts[1] : parts[0].suffix(0))
    guard !whole.isEmpty || !decimals.isEmpty, whole.count <= 11,
      whole.allSatisfy({ $0 &- 48 < 10 }), decimals.allSatisfy({ $0 &- 48 < 10 })
    else { return nil }
    func number(_ digits: some Sequence<UInt8>) -> Int64 {
      digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
    let nanoseconds = Array(decimals.prefix(9))
    let filled = nanoseconds + Array(repeating: 48, count: 9 - nanoseconds.count)
    self.init(seconds: number(whole), nanoseconds: Int32(number(filled)))
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

extension Timestamp {
  /// Reads a date-time of RFC 3339, section 5.6: `2026-03-01T12:00:00.5+01:00`.
  ///
  /// Any number of decimals (beyond nine they are dropped), `t` and `z` in
  /// lower case, a space for the `T`, and a leap second (60, which is the next
  /// second's 0). Nil for anything else, and for what is in UTC before the year 0 or behind 9999.
  public init?(rfc3339 text: String) {
    var text = text
    guard let time = text.withUTF8({ Timestamp(rfc3339: UnsafeRawBufferPointer($0)) }) else {
      return nil
    }
    self = time
  }

  /// Reads a date-time of RFC 3339 from UTF-8.
  public init?(rfc3339 text: UnsafeRawBufferPointer) {
    func number(_ at: Int, _ digits: Int) -> Int64? {
      guard at + digits <= text.count else { return nil }
      var value: Int64 = 0
      for index in at..<at + digits {
        guard text[index] &- 0x30 < 10 else { return nil }
        value = value * 10 + Int64(text[index] - 0x30)
      }
      return value
    }
    guard text.count >= 20, let year = number(0, 4), text[4] == 0x2d, let month = number(5, 2),
      text[7] == 0x2d, let day = number(8, 2), text[10] | 0x20 == 0x74 || text[10] == 0x20,
      let hour = number(11, 2), text[13] == 0x3a, let minute = number(14, 2), text[16] == 0x3a,
      let second = number(17, 2), (1...12).contains(month),
      day >= 1 && day <= Self.daysOf(month: month, year: year), hour < 24, minute < 60, second <= 60
    else { return nil }
    var at = 19
    var nanoseconds: Int32 = 0
    if text[at] == 0x2e {
      at += 1
      let first = at
      var unit: Int32 = 100_000_000
      while at < text.count, text[at] &- 0x30 < 10 {
        nanoseconds += Int32(text[at] - 0x30) * unit
        unit /= 10
        at += 1
      }
      guard at > first else { return nil }
    }
    guard at < text.count else { return nil }
    var offset: Int64 = 0
    switch text[at] {
    case 0x5a, 0x7a: guard at + 1 == text.count else { return nil }
    case 0x2b, 0x2d:
      guard at + 6 == text.count, let hours = number(at + 1, 2), text[at + 3] == 0x3a,
        let minutes = number(at + 4, 2), hours < 24, minutes < 60
      else { return nil }
      offset = (hours * 60 + minutes) * (text[at] == 0x2b ? 60 : -60)
    default: return nil
    }
    let days = Self.days(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    guard Self.writable.contains(seconds) else { return nil }
    self.init(seconds: seconds, nanoseconds: nanoseconds)
  }

  /// The years 0 to 9999, which are all that have four digits.
  private static let writable: Range<Int64> = -62_167_219_200..<253_402_300_800

  static func daysOf(month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// RFC 3339 in UTC with three decimals, as the dashboard writes it:
  /// `2026-03-01T12:00:00.000Z`. What is finer is cut off.
  public var rfc3339: String {
    var days = seconds / 86_400
    var second = seconds % 86_400
    if second < 0 { (days, second) = (days - 1, second + 86_400) }
    let date = Self.date(days: days)
    return date.year.digits(4) + "-" + date.month.digits(2) + "-" + date.day.digits(2) + "T"
      + (second / 3600).digits(2) + ":" + (second / 60 % 60).digits(2) + ":"
      + (second % 60).digits(2) + "." + (nanoseconds / 1_000_000).digits(3) + "Z"
  }
}
