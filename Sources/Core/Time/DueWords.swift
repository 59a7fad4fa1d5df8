/// A day or a time to come, in the words of people: `tomorrow 9:00`, `next fri`, `in 3 days`,
/// `first monday of december`, `2026-12-01 09:00`. What names no zone is in the user's.
/// task(1) has the table of all phrases; `DueDays` reads the days of it, `ClockTime` the
/// times.
public enum DueWords {
  /// What was read.
  public struct Found: Equatable, Sendable {
    /// How many words it took.
    public let count: Int
    /// What they mean.
    public let due: DueTime
  }

  /// Reads what begins with the first of some words.
  ///
  /// - Returns: nil when no date begins there.
  /// - Throws: `Failure` for what has the shape of a date or a time and is none, and for a date in
  ///   a phrase that is not known.
  public static func read(
    _ words: ArraySlice<String>, now: Timestamp, zone: LocalZone = .system
  ) throws(Failure) -> Found? {
    guard let today = zone.day(of: now) else { return nil }
    // No date has more words.
    var plain = words.prefix(16).map(plain)
    // As todo.txt has it.
    let isKey = plain.first.map { $0.hasPrefix("due:") && $0.count > 4 } ?? false
    if isKey {
      plain[0] = String(plain[0].dropFirst(4))
    } else if plain.first == "due:" {
      plain[0] = "due"
    }
    let days = DueDays(words: plain, now: now, today: today, zone: zone)
    let found = try DueReader(days: days, isKey: isKey).found()
    if isKey, found == nil { throw Failure("no such date: \(plain[0])") }
    return found
  }

  private static func plain(_ word: String) -> String {
    let word = word.lowercased().map { $0 == "’" ? "'" : $0 }
    let end = word.reversed().drop { ",.;!?)".contains($0) }.count
    var text = String(word.prefix(end).drop { $0 == "(" })
    // The last dot belongs to `24.12.`.
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if end < word.count, word[end] == ".", parts.count == 2, parts.allSatisfy(DueDays.isNumber) {
      text += "."
    }
    return text
  }

  static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]
}

private struct DueReader {
  let days: DueDays
  let isKey: Bool

  /// The years that RFC 3339 can write are 0 to 9999; a day less at both ends, for zones.
  private static let years: Range<Int64> = -62_167_132_800..<253_402_214_400

  private static let before = ["on", "by", "due", "at", "@", "until", "till", "before"]
  private static let fillers = ["early", "late", "later", "sometime", "anytime", "around"]
  /// With these a date is another than the one that follows.
  private static let strange = [
    "after", "since", "from", "between", "except", "not", "than", "mid", "past", "last",
    "previous", "starting", "through", "half", "of",
  ]
  private static let vague = ["a", "some", "any", "one", "other", "another", "alternate"]
  /// Of no hour that is known.
  private static let meals = [
    "dawn", "sunrise", "breakfast", "lunch", "lunchtime", "teatime", "dinner", "dusk", "sunset",
  ]
  private static let ranges = ["-", "–", "—", "to", "till", "until", "through", "thru"]

  private func word(_ index: Int) -> String { days.word(index) }

  func found() throws(Failure) -> DueWords.Found? {
    if ["every", "each", "daily", "weekly"].contains(word(0)) {
      if let end = days.period() { throw repeated(end) }
      if let (end, _) = try when(1, isNamed: true) { throw repeated(end) }
      return nil
    }
    let one = String(word(1).dropLast())
    if word(0) == "on", word(1).last == "s",
      days.weekday(one) != nil || ["weekday", "weekend"].contains(one)
    {
      throw repeated(2)
    }
    if let end = days.range(0) { throw repeated(end) }
    if DueWords.months.contains(where: { $0.hasPrefix(word(0)) }), word(0).count > 2,
      let end = days.range(1)
    {
      throw repeated(end)
    }
    if let (end, due) = try marked() {
      guard Self.years.contains(due.instant(in: days.zone).seconds) else {
        throw days.fault(0, end)
      }
      let other = try Self.ranges.contains(word(end)) ? when(end + 1, isNamed: true)?.0 : nil
      if Self.ranges.contains(word(end)), let last = other ?? days.number(end + 1) {
        throw repeated(last)
      }
      if let last = days.range(end, isBehindDay: true) { throw repeated(last) }
      let next = word(end + 1)
      let isNear =
        word(end) == "or" && ["so", "later", "after"].contains(next)
        || word(end) == "at" && Self.meals.contains(next)
        || ["+", "plus", "minus"].contains(word(end)) || word(end) == "a" && next == "week"
        || days.weekday(word(end - 1)) != nil && ["before", "after"].contains(word(end))
          && !["work", "school", "lunch", "dinner"].contains(next)
      if isNear { throw days.strange(0, end + 2) }
      if word(end).first?.isNumber == true, word(end).hasSuffix("ish") {
        throw days.strange(0, end + 1)
      }
      return DueWords.Found(count: latest(end), due: due)
    }
    // Without the words before it, it would be another day.
    let isOrdinal = days.ordinal(word(0)) != nil && Int(word(0)) == nil
    let isVague = isOrdinal || Self.vague.contains(word(0))
    if isVague, days.weekday(word(1)) != nil { throw strange(2) }
    if let start = try days.hoursAside(0), let (end, _) = try when(start, isNamed: true) {
      throw strange(end)
    }
    if Self.strange.contains(word(0)) || isOrdinal && ["last", "to"].contains(word(1)) {
      let from = word(1) == "to" ? 2 : 1
      let start = isOrdinal && word(from) == "last" ? from : from + (word(from) == "of" ? 1 : 0)
      if let (end, _) = try when(start, isNamed: word(0) != "half") { throw strange(end) }
    }
    return nil
  }

  private func repeated(_ end: Int) -> Failure {
    Failure("a task is for one day: \(days.words[..<end].joined(separator: " "))")
  }

  private func strange(_ end: Int) -> Failure { days.strange(0, end) }

  /// Behind `at the latest`, which every date is.
  private func latest(_ at: Int) -> Int {
    if word(at) == "latest" { return at + 1 }
    if word(at) == "first", word(at + 1) == "thing" { return at + 2 }
    if word(at) == "at", word(at + 1) == "the", word(at + 2) == "latest" { return at + 3 }
    let isSooner = ["earlier", "sooner", "before"].contains(word(at + 1))
    return word(at) == "or" && isSooner ? at + 2 : at
  }

  private func marked() throws(Failure) -> (Int, DueTime)? {
    var at = 0
    var isBefore = false
    var isVague = false
    if ["no", "not"].contains(word(0)), word(1) == "later", word(2) == "than" { at = 3 }
    while true {
      if Self.before.contains(word(at)) {
        isBefore = word(at) == "before"
        at += 1
      } else if Self.fillers.contains(word(at)) {
        isVague = isVague || ["early", "late"].contains(word(at))
        at += 1
      } else if word(at) == "first", word(at + 1) == "thing" {
        at += 2
      } else {
        break
      }
    }
    let last = at > 0 ? word(at - 1) : ""
    let isNamed = isKey || at > 0 && Self.before.contains(last) || word(2) == "than"
    guard
      var (end, due) = try when(at, isNamed: isNamed, isAt: ["at", "@"].contains(last))
    else { return nil }
    if isVague, days.isSpan(at) { throw strange(end) }
    if isBefore, days.part(at, end) == nil, case .day(let day) = due {
      (end, due) = (end, .day(day - 1))
    }
    return (end, due)
  }

  private func when(
    _ at: Int, isNamed: Bool = false, isAt: Bool = false
  ) throws(Failure) -> (Int, DueTime)? {
    if let time = Timestamp(rfc3339: word(at)) { return (at + 1, .instant(time)) }
    let halves = word(at).split(separator: "t", omittingEmptySubsequences: false).map(String.init)
    if halves.count == 2, halves[0].utf8.count == 10, halves[0].utf8.dropFirst(4).first == 45,
      DueDays.isNumber(halves[0].prefix(4))
    {
      // A `T` between them, as in RFC 3339.
      let parts = DueReader(days: days.replacing(halves + days.words[(at + 1)...]), isKey: false)
      guard let (end, due) = try parts.when(0), end >= 2 else { throw days.fault(at, at + 1) }
      return (at + end - 1, due)
    }
    if let found = try days.hours(at) { return found }
    // `at 9.10.` is no date.
    if !isAt || !word(at).utf8.contains(46), let (end, day) = try days.day(at, isNamed: isNamed) {
      return try timed(day, at, end)
    }
    return try clock(at, isAt, isNamed)
  }

  private func timed(_ day: Int64, _ at: Int, _ end: Int) throws(Failure) -> (Int, DueTime) {
    let end = days.partEnd(end) ?? end
    let part = days.part(at, end)
    let isNamed = ["at", "by", "before", "around", "@"].contains(word(end))
    let from = isNamed ? end + 1 : end
    let isAlone = isNamed || part != nil || days.isEnd(from + 1)
    guard let clock = try ClockTime(days.words, at: from, isBehindAt: isAlone, part: part) else {
      return (end, .day(day))
    }
    return (clock.end, try instant(day, clock, at, clock.end, part: part))
  }

  private func clock(
    _ at: Int, _ isAt: Bool, _ isNamed: Bool
  ) throws(Failure) -> (Int, DueTime)? {
    let isSpoken = ["half", "quarter", "a"].contains(word(at)) || isAt
    let length =
      !isSpoken ? 1 : word(at) == "a" ? 4 : ["past", "to"].contains(word(at + 1)) ? 3 : 1
    let behind = at + (["o'clock", "oclock"].contains(word(at + 1)) ? 2 : length)
    let next = word(behind) == "on" ? behind + 1 : behind
    let isNear = length > 1 || ClockTime.isNear(word(at))
    let follows = isNear ? try days.day(next, isNamed: next > behind) : nil
    let part = follows.flatMap { days.part(next, days.partEnd($0.0) ?? $0.0) }
    let isEnd = days.isEnd(at + 1) || follows != nil || days.partEnd(at + 1) != nil
    let isBehindAt = isAt && (isEnd || ["past", "to"].contains(word(at + 1)))
    let isNoon = ["noon", "midday", "midnight"].contains(word(at))
    if isNoon, !isNamed, follows == nil { return nil }
    guard let clock = try ClockTime(days.words, at: at, isBehindAt: isBehindAt, part: part)
    else { return nil }
    let start = word(clock.end) == "on" ? clock.end + 1 : clock.end
    if let (found, day) = try days.day(start, isNamed: start > clock.end) {
      let end = days.partEnd(found) ?? found
      return (end, try instant(day, clock, at, end, part: days.part(start, end)))
    }
    let today = clock.isUniversal ? days.now.seconds / 86400 : days.today
    let time = try instant(today, clock, at, clock.end, isAlone: true)
    if case .instant(let time) = time, time > days.now { return (clock.end, .instant(time)) }
    return (clock.end, try instant(today + 1, clock, at, clock.end, isAlone: true))
  }

  private func instant(
    _ day: Int64, _ clock: ClockTime, _ from: Int, _ to: Int, part: String? = nil,
    isAlone: Bool = false
  ) throws(Failure) -> DueTime {
    var second = clock.second
    if clock.isMidnight, !isAlone {
      guard part == "night" else {
        let said = days.words[from..<to].joined(separator: " ")
        throw Failure("the beginning or the end of the day: \(said)")
      }
      second = 86_400
    }
    if clock.isUniversal { return .instant(Timestamp(seconds: day * 86400 + second)) }
    guard let time = days.zone.instant(day: day, second: second) else {
      throw days.fault(from, to)
    }
    return .instant(time)
  }
}
