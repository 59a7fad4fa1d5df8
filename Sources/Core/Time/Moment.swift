/// A point in time as people write it: `2h` ago, `today`, `tue 9:00`, `14:30`,
/// `2026-11-22 05:00`, or RFC 3339. What has no zone is in the user's.
public enum Moment: Equatable, Sendable {
  /// So long ago.
  case ago(Duration)
  /// This one.
  case time(Timestamp)

  /// - Parameters:
  ///   - text: RFC 3339, what `DurationText` reads, `now`, a day, a time of the day, or
  ///     both. A day is `today`, `yesterday`, a date, or a day of the week: the last
  ///     that began, so perhaps today; without a time it is meant from its beginning. A
  ///     time without a day is the last time that clocks showed it.
  ///   - now: what days are counted from.
  ///   - zone: of what names none.
  /// - Returns: nil for anything else.
  public init?(
    _ text: String, now: Timestamp = .now(), zone: LocalZone = .system
  ) {
    if let time = Timestamp(rfc3339: text) {
      self = .time(time)
    } else if let duration = DurationText.parse(text) {
      self = .ago(duration)
    } else if let time = LocalText(text)?.timestamp(now: now, zone: zone) {
      self = .time(time)
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

  static let weekdays = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  static let words = ["now", "today", "yesterday"] + weekdays
}

private struct LocalText {
  private enum Day {
    case now
    case daysAgo(Int64)
    case weekday(Int64)
    case date(Int64)
  }

  private let day: Day?
  /// Behind midnight; nil for none said.
  private let second: Int64?

  init?(_ text: String) {
    let text = text.lowercased()
    var words = text.split(separator: " ").map(Substring.init)
    // A `T` between them, as in RFC 3339.
    if words.count == 1, let first = words.first, first.utf8.count > 11,
      first.utf8.dropFirst(10).first == UInt8(ascii: "t")
    {
      words = [first.prefix(10), first.dropFirst(11)]
    }
    guard (1...2).contains(words.count) else { return nil }
    if words.count == 1, let second = Self.second(words[0]) {
      (day, self.second) = (nil, second)
      return
    }
    guard let day = Self.day(words[0]) else { return nil }
    self.day = day
    guard words.count == 2 else {
      second = nil
      return
    }
    if case .now = day { return nil }
    guard let second = Self.second(words[1]) else { return nil }
    self.second = second
  }

  private static func day(_ word: Substring) -> Day? {
    switch word {
    case "now": return .now
    case "today": return .daysAgo(0)
    case "yesterday": return .daysAgo(1)
    default: break
    }
    // Three letters tell days apart; more of the word will do as well.
    if word.count >= 3, let weekday = Moment.weekdays.firstIndex(where: { $0.hasPrefix(word) }) {
      return .weekday(Int64(weekday))
    }
    return Timestamp(rfc3339: word + "T00:00:00Z").map { .date($0.seconds / 86_400) }
  }

  /// `9:00`, `09:00`, `09:00:30`: seconds behind midnight.
  private static func second(_ word: Substring) -> Int64? {
    let parts = word.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count) else { return nil }
    var numbers: [Int64] = []
    for (index, part) in parts.enumerated() {
      let digits = part.utf8
      guard digits.count == 2 || index == 0 && digits.count == 1,
        digits.allSatisfy({ $0 &- 48 < 10 }), let number = Int64(part),
        number < (index == 0 ? 24 : 60)
      else { return nil }
      numbers.append(number)
    }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
  }

  func timestamp(now: Timestamp, zone: LocalZone) -> Timestamp? {
    if case .now = day { return now }
    guard let today = zone.day(of: now) else { return nil }
    let date =
      switch day {
      case .now, nil: today
      case .daysAgo(let days): today - days
      // The first day of 1970 was the fifth of its week.
      case .weekday(let weekday): today - ((today + 4 - weekday) % 7 + 7) % 7
      case .date(let date): date
      }
    guard let time = zone.instant(day: date, second: second ?? 0) else { return nil }
    return day == nil && time > now ? zone.instant(day: date - 1, second: second ?? 0) : time
  }
}
