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
    } else if let time = Self.local(text, now: now, zone: zone) {
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

extension Moment {
  /// What names no zone.
  private static func local(_ text: String, now: Timestamp, zone: LocalZone) -> Timestamp? {
    let text = text.lowercased()
    var words = text.split(separator: " ")
    if words == ["now"] { return now }
    guard let today = zone.day(of: now) else { return nil }
    // A `T` between them, as in RFC 3339.
    if words.count == 1, let first = words.first, first.utf8.count > 11,
      first.utf8.dropFirst(10).first == UInt8(ascii: "t")
    {
      words = [first.prefix(10), first.dropFirst(11)]
    }
    if words.count == 1, let second = second(words[0]) {
      let time = zone.instant(day: today, second: second)
      return time.map { $0 > now } == true ? zone.instant(day: today - 1, second: second) : time
    }
    guard (1...2).contains(words.count), let day = day(words[0], today: today),
      let second = words.count == 2 ? second(words[1]) : 0
    else { return nil }
    return zone.instant(day: day, second: second)
  }

  private static func day(_ word: Substring, today: Int64) -> Int64? {
    switch word {
    case "today": return today
    case "yesterday": return today - 1
    default: break
    }
    // Three letters tell days apart; more of the word will do as well.
    if word.count >= 3, let weekday = weekdays.firstIndex(where: { $0.hasPrefix(word) }) {
      // The first day of 1970 was the fifth of its week.
      return today - ((today + 4 - Int64(weekday)) % 7 + 7) % 7
    }
    return Timestamp(rfc3339: word + "T00:00:00Z").map { $0.seconds / 86_400 }
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
}
