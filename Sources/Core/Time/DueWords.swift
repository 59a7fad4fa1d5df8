/// A day or a time to come, in the words of people: `tomorrow 9:00`, `next fri`, `in 3 days`,
/// `dec 1`, `2026-12-01 09:00`. What names no zone is in the user's.
///
/// - `today`, `tomorrow`.
/// - A day of the week, of which three letters do: the first behind today. With `next` that of
///   the next week, which begins on Monday; `next week` is that Monday, `next month` its first
///   day.
/// - `in` so many `minutes`, `hours`, `days`, `weeks`, `months` or `years`, or in short: `in 2h`.
/// - A date, `2026-12-01`; a month with a day before or behind it, of this year unless it is
///   over, or of the year that follows. RFC 3339.
/// - Behind or before a day, or alone, a time of the day: `9:00`, `9am`, `4:30 pm`, `9:00 UTC`.
///   Alone it is the next time that clocks show it.
/// - `on`, `by`, `due` and `at` may stand before it.
public enum DueWords {
  /// Why what looks like a date is none.
  public struct Fault: Error, Equatable, Sendable {
    /// Lower case, no full stop.
    public let reason: String
  }

  /// What was read.
  public struct Found: Equatable, Sendable {
    /// How many words it took.
    public let count: Int
    /// What they mean.
    public let due: DueTime
  }

  /// Reads what begins with the first of some words.
  ///
  /// - Parameters:
  ///   - words: without blanks.
  ///   - now: what days are counted from.
  ///   - zone: whose clocks are meant.
  /// - Returns: nil when no date begins there.
  /// - Throws: `Fault` for what has the shape of a date or a time and is none.
  public static func read(
    _ words: ArraySlice<String>, now: Timestamp, zone: LocalZone = .system
  ) throws(Fault) -> Found? {
    guard let today = zone.day(of: now) else { return nil }
    // No date has more words.
    let plain = words.prefix(9).map { word in
      String(word.lowercased().reversed().drop { ",.;!?".contains($0) }.reversed())
    }
    return try DueReader(words: plain, now: now, today: today, zone: zone).found()
  }

  static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]
}

/// Reads the words of one date.
private struct DueReader {
  let words: [String]
  let now: Timestamp
  let today: Int64
  let zone: LocalZone

  private typealias Fault = DueWords.Fault

  /// The years that RFC 3339 can write are 0 to 9999; a day less at both ends, for zones.
  private static let years: Range<Int64> = -62_167_132_800..<253_402_214_400

  func found() throws(DueWords.Fault) -> DueWords.Found? {
    let isRepeated = word(0) == "every"
    if isRepeated, let end = period() { throw repeated(end) }
    let start = isRepeated || ["on", "by", "due", "at"].contains(word(0)) ? 1 : 0
    guard let (end, due) = try when(start) else { return nil }
    guard Self.years.contains(due.instant(in: zone).seconds) else { throw fault(0, end) }
    if isRepeated { throw repeated(end) }
    return DueWords.Found(count: end, due: due)
  }

  private func repeated(_ end: Int) -> Fault {
    Fault(reason: "a task is for one day: \(words[..<end].joined(separator: " "))")
  }

  private func word(_ index: Int) -> String { index < words.count ? words[index] : "" }

  private func fault(_ from: Int, _ to: Int, _ what: String = "date") -> Fault {
    Fault(reason: "no such \(what): \(words[from..<to].joined(separator: " "))")
  }

  /// - Returns: the word behind it, and what is meant.
  private func when(_ at: Int) throws(Fault) -> (Int, DueTime)? {
    if let time = Timestamp(rfc3339: word(at)) { return (at + 1, .instant(time)) }
    let halves = word(at).split(separator: "t", omittingEmptySubsequences: false).map(String.init)
    if halves.count == 2, halves[0].utf8.count == 10, halves[0].utf8.dropFirst(4).first == 45,
      Self.isNumber(halves[0].prefix(4))
    {
      // A `T` between them, as in RFC 3339.
      let parts = DueReader(words: halves + words[(at + 1)...], now: now, today: today, zone: zone)
      guard let (end, due) = try parts.when(0), end >= 2 else { throw fault(at, at + 1) }
      return (at + end - 1, due)
    }
    if let found = try hours(at) { return found }
    if let (end, day) = try day(at) {
      let isNamed = word(end) == "at"
      let from = isNamed ? end + 1 : end
      guard let clock = try ClockTime(words, at: from, isBehindAt: isNamed) else {
        return (end, .day(day))
      }
      return (clock.end, try instant(day, clock, at, clock.end))
    }
    guard let clock = try ClockTime(words, at: at) else { return nil }
    if let (end, day) = try day(word(clock.end) == "on" ? clock.end + 1 : clock.end) {
      return (end, try instant(day, clock, at, end))
    }
    let today = clock.isUniversal ? now.seconds / 86400 : today
    let next = try instant(today, clock, at, clock.end)
    if case .instant(let time) = next, time > now { return (clock.end, next) }
    return (clock.end, try instant(today + 1, clock, at, clock.end))
  }

  private func instant(
    _ day: Int64, _ clock: ClockTime, _ from: Int, _ to: Int
  ) throws(Fault) -> DueTime {
    if clock.isUniversal { return .instant(Timestamp(seconds: day * 86400 + clock.second)) }
    guard let time = zone.instant(day: day, second: clock.second) else { throw fault(from, to) }
    return .instant(time)
  }

  // MARK: - Days

  private func day(_ at: Int) throws(Fault) -> (Int, Int64)? {
    switch word(at) {
    case "today": return (at + 1, today)
    case "tomorrow": return (at + 1, today + 1)
    case "next": return next(at)
    default: break
    }
    if let weekday = weekday(word(at)) {
      let ahead = (weekday - today - 4) % 7
      return (at + 1, today + (ahead + 6) % 7 + 1)
    }
    if let found = try days(at) { return found }
    if let found = try iso(at) { return found }
    if let found = try month(at, at + 1) { return found }
    return try month(at + 1, at)
  }

  /// The number of the day of a week that begins on Sunday.
  private func weekday(_ word: String) -> Int64? {
    guard word.count >= 3 else { return nil }
    return Moment.weekdays.firstIndex { $0.hasPrefix(word) }.map(Int64.init)
  }

  private func next(_ at: Int) -> (Int, Int64)? {
    // The first day of 1970 was a Thursday.
    let monday = today - ((today + 3) % 7 + 7) % 7 + 7
    switch word(at + 1) {
    case "week": return (at + 2, monday)
    case "month":
      let date = Timestamp.date(days: today)
      return (at + 2, Timestamp.days(year: date.year, month: date.month, day: 1, more: 1))
    case let name: return weekday(name).map { (at + 2, monday + ($0 + 6) % 7) }
    }
  }

  private func iso(_ at: Int) throws(Fault) -> (Int, Int64)? {
    let parts = word(at).split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].utf8.count == 4, parts.allSatisfy(Self.isNumber),
      parts[1].utf8.count <= 2, parts[2].utf8.count <= 2, let year = Int64(parts[0]),
      let month = Int64(parts[1]), let day = Int64(parts[2])
    else { return nil }
    guard let days = Self.days(year, month, day) else { throw fault(at, at + 1) }
    return (at + 1, days)
  }

  private func month(_ name: Int, _ number: Int) throws(Fault) -> (Int, Int64)? {
    guard word(name).count >= 3,
      let index = DueWords.months.firstIndex(where: { $0.hasPrefix(word(name)) }),
      let day = Self.ordinal(word(number))
    else { return nil }
    let (first, end) = (min(name, number), max(name, number) + 1)
    let month = Int64(index + 1)
    if word(end).utf8.count == 4, Self.isNumber(word(end)[...]), let year = Int64(word(end)) {
      guard let days = Self.days(year, month, day) else { throw fault(first, end + 1) }
      return (end + 1, days)
    }
    let year = Timestamp.date(days: today).year
    // Leap days are eight years apart at most.
    for year in year...year + 8 {
      if let days = Self.days(year, month, day), days >= today { return (end, days) }
    }
    throw fault(first, end)
  }

  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    guard (1...12).contains(month), day >= 1, day <= Timestamp.daysOf(month: month, year: year)
    else { return nil }
    return Timestamp.days(year: year, month: month, day: day)
  }

  /// `1`, `01`, `1st`.
  private static func ordinal(_ word: String) -> Int64? {
    let digits = word.prefix { $0.isASCII && $0.isNumber }
    guard (1...2).contains(digits.count),
      ["", "st", "nd", "rd", "th"].contains(word.dropFirst(digits.count))
    else { return nil }
    return Int64(digits)
  }

  private static func isNumber(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- 48 < 10 }
  }

  // MARK: - So much later

  private enum Unit { case minute, hour, day, week, month, year }

  private static let units: [(Unit, [String])] = [
    (.minute, ["m", "min", "mins", "minute", "minutes"]),
    (.hour, ["h", "hr", "hrs", "hour", "hours"]),
    (.day, ["d", "day", "days"]), (.week, ["w", "wk", "wks", "week", "weeks"]),
    (.month, ["month", "months"]), (.year, ["y", "year", "years"]),
  ]

  /// `in 3 days`, `in 3d`, `in a week`.
  private func later(_ at: Int) throws(Fault) -> (end: Int, count: Int64, unit: Unit)? {
    guard word(at) == "in" else { return nil }
    let first = word(at + 1)
    let isArticle = ["a", "an", "one"].contains(first)
    let digits = isArticle ? "1" : String(first.prefix { $0.isASCII && $0.isNumber })
    let isAlone = isArticle || digits == first
    let name = isAlone ? word(at + 2) : String(first.dropFirst(digits.count))
    guard !digits.isEmpty, let unit = Self.units.first(where: { $0.1.contains(name) })?.0
    else { return nil }
    let end = at + (isAlone ? 3 : 2)
    guard digits.count <= 4, let count = Int64(digits) else { throw fault(at, end) }
    return (end, count, unit)
  }

  /// Behind `every`: `day`, `2 weeks`, `other day`.
  private func period() -> Int? {
    let first = word(1)
    if ["weekday", "weekend", "morning", "evening", "night"].contains(first) { return 2 }
    let digits = first.prefix { $0.isASCII && $0.isNumber }
    let isAlone = first == "other" || !digits.isEmpty && digits.count == first.count
    let name = isAlone ? word(2) : String(first.dropFirst(digits.count))
    guard Self.units.contains(where: { $0.1.contains(name) }), isAlone || name.count > 2 else {
      return nil
    }
    return isAlone ? 3 : 2
  }

  private func days(_ at: Int) throws(Fault) -> (Int, Int64)? {
    guard let (end, count, unit) = try later(at) else { return nil }
    let date = Timestamp.date(days: today)
    switch unit {
    case .minute, .hour: return nil
    case .day: return (end, today + count)
    case .week: return (end, today + 7 * count)
    case .month, .year:
      let months = unit == .year ? 12 * count : count
      return (end, Timestamp.days(year: date.year, month: date.month, day: date.day, more: months))
    }
  }

  private func hours(_ at: Int) throws(Fault) -> (Int, DueTime)? {
    guard let (end, count, unit) = try later(at), unit == .minute || unit == .hour else {
      return nil
    }
    let time = now.seconds + count * (unit == .hour ? 3600 : 60)
    return (end, .instant(Timestamp(seconds: time - time % 60)))
  }
}

extension Timestamp {
  /// The day so many months behind a date, or the last of that month if it is shorter.
  fileprivate static func days(year: Int64, month: Int64, day: Int64, more: Int64) -> Int64 {
    let months = year * 12 + month - 1 + more
    let (year, month) = (months / 12, months % 12 + 1)
    return days(year: year, month: month, day: min(day, daysOf(month: month, year: year)))
  }
}
