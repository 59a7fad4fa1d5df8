/// When something is to be done: on a day, or at a time.
public enum DueTime: Hashable, Sendable {
  /// On this day, in days since 1970-01-01, wherever one is.
  case day(Int64)
  /// At this instant.
  case instant(Timestamp)

  /// Reads a date (`2026-12-01`), a date-time of RFC 3339, or one without a zone, which is
  /// local: `2026-12-01T09:00`.
  ///
  /// - Parameter zone: whose clocks are meant where it names none.
  /// - Returns: nil for anything else.
  public init?(_ text: String, zone: LocalZone = .system) {
    let full = text.utf8.count == 16 ? text + ":00Z" : text + "Z"
    if let time = Timestamp(rfc3339: text) {
      self = .instant(time)
    } else if text.utf8.count == 10, let start = Timestamp(rfc3339: text + "T00:00:00Z") {
      self = .day(start.seconds / 86_400)
    } else if let shown = Timestamp(rfc3339: full),
      let time = zone.instant(day: 0, second: shown.seconds)
    {
      self = .instant(Timestamp(seconds: time.seconds, nanoseconds: shown.nanoseconds))
    } else {
      return nil
    }
  }

  /// The date, or the time in UTC.
  public var text: String {
    switch self {
    case .day(let day): String(Timestamp(seconds: day * 86_400).rfc3339.prefix(10))
    case .instant(let time): time.rfc3339
    }
  }

  /// How near it is.
  public enum Distance: Int, Comparable, Sendable {
    case overdue, today, later

    public static func < (a: Distance, b: Distance) -> Bool { a.rawValue < b.rawValue }
  }

  /// How near it is; a day is over when its last second is.
  public func distance(from now: Timestamp, in zone: LocalZone) -> Distance {
    guard let today = zone.day(of: now), let day = day(in: zone) else { return .later }
    if case .instant(let time) = self, time < now { return .overdue }
    return day < today ? .overdue : day == today ? .today : .later
  }

  /// What it sorts by: a day stands behind the times of it.
  public func instant(in zone: LocalZone) -> Timestamp {
    switch self {
    case .day(let day):
      zone.instant(day: day, second: 86_399) ?? Timestamp(seconds: day * 86_400 + 86_399)
    case .instant(let time): time
    }
  }

  /// As people read it: `Tue 24 Nov`, `Tue 24 Nov 09:00`, with the year when it is another one.
  public func words(now: Timestamp, in zone: LocalZone) -> String {
    guard let day = day(in: zone), let today = zone.day(of: now) else { return text }
    let date = Timestamp.date(days: day)
    // The first day of 1970 was the fifth of its week.
    let weekday = Moment.weekdays[Int((day % 7 + 11) % 7)].prefix(3).capitalizedWord
    let month = DueWords.months[Int(date.month) - 1].prefix(3).capitalizedWord
    var words = "\(weekday) \(date.day) \(month)"
    if date.year != Timestamp.date(days: today).year { words += " \(date.year)" }
    if case .instant(let time) = self, let shown = zone.shown(time) {
      let second = shown - day * 86_400
      words += " \((second / 3600).digits(2)):\((second / 60 % 60).digits(2))"
    }
    return words
  }

  private func day(in zone: LocalZone) -> Int64? {
    switch self {
    case .day(let day): day
    case .instant(let time): zone.day(of: time)
    }
  }
}

extension Substring {
  fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}
