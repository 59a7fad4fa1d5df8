extension Timestamp {
  /// Reads a date-time of RFC 3339, section 5.6: `2026-03-01T12:00:00.5+01:00`.
  ///
  /// Any number of decimals (beyond nine they are dropped), `t` and `z` in
  /// lower case, a space for the `T`, and a leap second (60, which is the next
  /// second's 0). Nil for anything else.
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
    self.init(
      seconds: days * 86_400 + hour * 3600 + minute * 60 + second - offset,
      nanoseconds: nanoseconds)
  }

  private static func daysOf(month: Int64, year: Int64) -> Int64 {
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
    func pad(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return pad(date.year, 4) + "-" + pad(date.month, 2) + "-" + pad(date.day, 2) + "T"
      + pad(second / 3600, 2) + ":" + pad(second / 60 % 60, 2) + ":" + pad(second % 60, 2) + "."
      + pad(Int64(nanoseconds) / 1_000_000, 3) + "Z"
  }
}
