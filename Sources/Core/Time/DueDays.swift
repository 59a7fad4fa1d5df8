struct DueDays {
  let words: [String]
  let now: Timestamp
  let today: Int64
  let zone: LocalZone

  func word(_ index: Int) -> String { index < words.count ? words[index] : "" }

  func replacing(_ words: [String]) -> DueDays {
    DueDays(words: words, now: now, today: today, zone: zone)
  }

  func fault(_ from: Int, _ to: Int, _ what: String = "date") -> Failure {
    Failure("no such \(what): \(words[from..<to].joined(separator: " "))")
  }

  func strange(_ from: Int, _ to: Int) -> Failure {
    let said = words[from..<min(to, words.count)].joined(separator: " ")
    return Failure(
      "not understood: \(said); \\ before a word keeps it in the title")
  }

  func isEnd(_ at: Int) -> Bool { word(at).isEmpty || "#+!@".contains(word(at).first ?? "#") }

  // MARK: - Days

  func day(_ at: Int, isNamed: Bool = false) throws(Failure) -> (Int, Int64)? {
    if let found = try articled(word(at) == "the" ? at + 1 : at, at, isNamed) { return found }
    if let found = try later(at) { return found }
    if let found = try relative(at) { return found }
    if let found = try weekdayAnd(at) { return found }
    if let found = try date(at, isNamed) { return found }
    if isNamed, let found = holiday(at) { return found }
    if isNamed, word(at) == "yesterday" { return (at + 1, today - 1) }
    if let (end, span) = span(at) {
      let isMonth = DueWords.months.contains { $0.hasPrefix(word(end - 1)) }
      switch word(at) {
      case "next": return (end, span.lowerBound)
      case "this" where isMonth: return (end, max(span.lowerBound, today))
      case "this": return (end, span.upperBound)
      default: if isNamed, isMonth, word(at).count > 3 { return (end, max(span.lowerBound, today)) }
      }
    }
    return nil
  }

  private func articled(
    _ at: Int, _ start: Int, _ isNamed: Bool
  ) throws(Failure) -> (Int, Int64)? {
    if word(at) == "day", let sign = Self.signs[word(at + 1)],
      let (end, day) = try day(at + 2, isNamed: true)
    {
      return (end, day + sign)
    }
    if ["weekend", "week", "month", "quarter", "year"].contains(word(at)), word(at + 1) == "after",
      word(at + 2) == "next"
    {
      if word(at) == "weekend" { return (at + 3, monday + 19) }
      return span(at).map { ($0.0, $0.1.lowerBound) }
    }
    if ["week", "month", "year"].contains(word(at)), Self.signs[word(at + 1)] != nil,
      let (end, _) = try day(at + 2, isNamed: true)
    {
      throw strange(start, end)
    }
    if let weekday = weekday(word(at)), let sign = Self.signs[word(at + 1)],
      let (end, day) = try day(at + 2, isNamed: true)
    {
      return (end, sign > 0 ? Self.first(weekday, behind: day) : Self.last(weekday, before: day))
    }
    if start < at, ["next", "coming"].contains(word(at)), let found = try relative(at) {
      return found
    }
    if start < at, ["after", "of"].contains(word(at + 1)), let found = try weekdayAnd(at),
      found.0 > at + 1
    {
      return found
    }
    if start < at, isNamed, word(at) == "weekend" { return (at + 1, max(today, monday + 5)) }
    if let found = try nth(at) { return found }
    if let found = try edge(at) { return found }
    if let found = try month(at) { return found }
    // `the 24th`, where nothing else has the number.
    let isWord = isNamed && start < at && isEnd(at + 1)
    guard start < at || isNamed,
      let number = Self.suffixed(word(at)) ?? (isWord ? ordinal(word(at)) : nil)
    else { return nil }
    guard isEnd(at + 1) || word(at + 1) == "at" || ClockTime.isNear(word(at + 1)) else {
      if isNamed { throw strange(max(start - 1, 0), at + 2) }
      return nil
    }
    guard (1...31).contains(number) else { throw fault(at, at + 1) }
    let date = Timestamp.date(days: today)
    for more in 0...2 as ClosedRange<Int64> {
      let first = Timestamp.days(year: date.year, month: date.month, day: 1, more: more)
      let month = Timestamp.date(days: first)
      if let day = Self.days(month.year, month.month, number), day >= today { return (at + 1, day) }
    }
    return nil
  }

  private static let signs: [String: Int64] = ["after": 1, "before": -1]

  private func relative(_ at: Int) throws(Failure) -> (Int, Int64)? {
    let evening = ["morning", "afternoon", "evening"]
    switch word(at) {
    case "today", "tod": return weeks(at + 1, behind: today)
    case "tonight", "tonite", "eod", "cob": return (at + 1, today)
    case "tomorrow", "tmr", "tmrw": return weeks(at + 1, behind: today + 1)
    case "overmorrow": return (at + 1, today + 2)
    case "eow": return (at + 1, monday + 6)
    case "eom": return span(["month"]).map { (at + 1, $0.upperBound) }
    case "eoq": return span(["quarter"]).map { (at + 1, $0.upperBound) }
    case "eoy": return span(["year"]).map { (at + 1, $0.upperBound) }
    case "in" where word(at + 1) == "the" && evening.contains(word(at + 2)):
      let hours: [String: Int64] = ["morning": 12, "afternoon": 18, "evening": 24]
      let second = (zone.shown(now) ?? 0) - today * 86_400
      return (at + 3, second < (hours[word(at + 2)] ?? 24) * 3600 ? today : today + 1)
    case "in":
      // A month or a year; its first day that is not over.
      let name = word(at + 1)
      if Self.month(name) != nil, let (end, span) = span(at + 1) {
        if span.upperBound < today { throw fault(at, end) }
        return (end, max(span.lowerBound, today))
      }
      let year = Timestamp.date(days: today).year
      if name.utf8.count == 4, Self.isNumber(name[...]), let number = Int64(name),
        (year + 1...year + 100).contains(number)
      {
        return (at + 2, Timestamp.days(year: number, month: 1, day: 1))
      }
      return nil
    case "within": return span(at + 1).map { ($0.0, $0.1.upperBound) }
    case "this":
      if evening.contains(word(at + 1)) { return (at + 2, today) }
      if word(at + 1) == "weekend" { return (at + 2, max(today, monday + 5)) }
      let from = word(at + 1) == "coming" ? at + 2 : at + 1
      let first = from == at + 1 ? today - 1 : today
      return weekday(word(from)).map { (from + 1, Self.first($0, behind: first)) }
    case "coming": return weekday(word(at + 1)).map { (at + 2, Self.first($0, behind: today)) }
    case "next":
      if word(at + 1) == "weekend" { return (at + 2, monday + 12) }
      if word(at + 1) == "week" {
        let from = ["on", "by"].contains(word(at + 2)) ? at + 3 : at + 2
        return weekday(word(from)).map { (from + 1, monday + 7 + Self.fromMonday($0)) }
      }
      if let end = workday(at + 1) { return (end, working(1, behind: today)) }
      return weekday(word(at + 1)).map { (at + 2, monday + 7 + Self.fromMonday($0)) }
    default: return nil
    }
  }

  private func weekdayAnd(_ at: Int) throws(Failure) -> (Int, Int64)? {
    guard let weekday = weekday(word(at)) else { return nil }
    let day = Self.first(weekday, behind: today)
    let ahead = Self.fromMonday(weekday)
    if word(at + 1) == "after", word(at + 2) == "next" { return (at + 3, monday + 14 + ahead) }
    let from = word(at + 1) == "of" ? at + 2 : at + 1
    if ["this", "next"].contains(word(from)), word(from + 1) == "week" {
      return (from + 2, monday + ahead + (word(from) == "next" ? 7 : 0))
    }
    let start = word(at + 1) == "the" ? at + 2 : at + 1
    var date = try month(start)
    if date == nil { date = try self.date(start, true) }
    if let (end, date) = date {
      guard Self.weekday(of: date) == weekday else { throw fault(at, end) }
      return (end, date)
    }
    if let number = Self.suffixed(word(start)) {
      for day in today...today + 2000 where Self.weekday(of: day) == weekday {
        if Timestamp.date(days: day).day == number { return (start + 1, day) }
      }
      throw fault(at, start + 1)
    }
    return weeks(at + 1, behind: day)
  }

  /// As in `monday week`.
  private func weeks(_ at: Int, behind day: Int64) -> (Int, Int64) {
    switch word(at) {
    case "week": (at + 1, day + 7)
    case "fortnight": (at + 1, day + 14)
    default: (at, day)
    }
  }

  /// The number of the day of a week that begins on Sunday.
  func weekday(_ word: String) -> Int64? {
    if word == "weds" { return 3 }
    guard word.count >= 3 else { return nil }
    return Moment.weekdays.firstIndex { $0.hasPrefix(word) }.map(Int64.init)
  }

  // The first day of 1970 was a Thursday.
  private static func weekday(of day: Int64) -> Int64 { ((day + 4) % 7 + 7) % 7 }
  private static func fromMonday(_ weekday: Int64) -> Int64 { (weekday + 6) % 7 }
  private static func first(_ weekday: Int64, behind day: Int64) -> Int64 {
    day + 1 + (weekday - Self.weekday(of: day + 1) + 7) % 7
  }
  private static func last(_ weekday: Int64, before day: Int64) -> Int64 {
    day - 1 - (Self.weekday(of: day - 1) - weekday + 7) % 7
  }

  private var monday: Int64 { today - Self.fromMonday(Self.weekday(of: today)) }

  /// Where a working day's name ends that begins here.
  private func workday(_ at: Int) -> Int? {
    if ["weekday", "workday"].contains(word(at)) { return at + 1 }
    return ["business", "working"].contains(word(at)) && word(at + 1) == "day" ? at + 2 : nil
  }

  private static func isWorking(_ day: Int64) -> Bool { (1...5).contains(weekday(of: day)) }
  private func working(_ count: Int64, behind day: Int64) -> Int64 {
    var (day, left) = (day, count)
    while left > 0 {
      day += 1
      if Self.isWorking(day) { left -= 1 }
    }
    return day
  }

  // MARK: - Weeks, months, years

  /// `the month`, `this week`, `next year`, `december 2026`.
  private func span(_ at: Int, turn: Int64 = 0) -> (Int, ClosedRange<Int64>)? {
    let isNext = word(at) == "next"
    let isNamed = isNext || ["the", "this"].contains(word(at))
    let name = isNamed ? at + 1 : at
    let isAfter = word(name + 1) == "after" && word(name + 2) == "next"
    let more: Int64 = isAfter ? 2 : isNext ? 1 : turn
    if let index = Self.month(word(name)) {
      let date = Timestamp.date(days: today)
      var year = date.year + turn
      var end = name + 1
      if let number = year4(end) {
        (year, end) = (number, end + 1)
      } else if index < date.month || isNext && index == date.month {
        year += 1
      }
      return (end, Self.months(year, index, count: 1))
    }
    return span([word(name)], more).map { (isAfter ? name + 3 : name + 1, $0) }
  }

  private func span(_ unit: [String], _ more: Int64 = 0) -> ClosedRange<Int64>? {
    let date = Timestamp.date(days: today)
    switch unit[0] {
    case "week": return monday + 7 * more...monday + 7 * more + 6
    case "month": return Self.months(date.year, date.month + more, count: 1)
    case "quarter":
      return Self.months(date.year, (date.month - 1) / 3 * 3 + 1 + 3 * more, count: 3)
    case "year": return Self.months(date.year + more, 1, count: 12)
    default: return nil
    }
  }

  private static func months(_ year: Int64, _ month: Int64, count: Int64) -> ClosedRange<Int64> {
    let first = Timestamp.days(year: year, month: 1, day: 1, more: month - 1)
    return first...Timestamp.days(year: year, month: 1, day: 1, more: month - 1 + count) - 1
  }

  func isSpan(_ at: Int) -> Bool {
    span(word(at) == "in" ? at + 1 : at).map { isEnd($0.0) || weekday(word($0.0)) == nil } == true
  }

  /// `first monday of december`, `last day of the month`, `15th of next month`.
  private func nth(_ at: Int) throws(Failure) -> (Int, Int64)? {
    let isLast = word(at) == "last"
    guard let number = isLast ? 0 : ordinal(word(at)) else { return nil }
    let weekday = weekday(word(at + 1))
    let work = workday(at + 1)
    let of = work ?? (weekday != nil || word(at + 1) == "day" ? at + 2 : at + 1)
    guard word(of) == "of" || word(of) == "in" && of > at + 1,
      let (end, span) = span(of + 1), !isLast || of > at + 1
    else { return nil }
    let pick = { (span: ClosedRange<Int64>) -> Int64? in
      let days = span.filter { day in
        weekday.map { $0 == Self.weekday(of: day) } ?? (work == nil || Self.isWorking(day))
      }
      if isLast { return days.last }
      return number > 0 && number <= days.count ? days[Int(number) - 1] : nil
    }
    var day = pick(span)
    let isFixed = ["this", "next"].contains(word(of + 1)) || year4(end - 1) != nil
    if !isFixed, let found = day, found < today {
      day = self.span(of + 1, turn: 1).flatMap { pick($0.1) }
    }
    guard let day, isFixed || day >= today else { throw fault(at, end) }
    return (end, day)
  }

  /// `end of the month`, `beginning of next week`.
  private func edge(_ at: Int) throws(Failure) -> (Int, Int64)? {
    guard ["end", "start", "beginning", "middle"].contains(word(at)), word(at + 1) == "of" else {
      return nil
    }
    let isEnd = word(at) == "end"
    let name = ["the", "this"].contains(word(at + 2)) ? at + 3 : at + 2
    if isEnd, ["day", "business"].contains(word(name)) { return (name + 1, today) }
    if var (end, span) = span(at + 2) {
      let isFixed = ["this", "next"].contains(word(at + 2)) || year4(end - 1) != nil
      let isOver = (isEnd ? span.upperBound : span.lowerBound) < today
      if !isFixed, isOver, let other = self.span(at + 2, turn: 1) { (end, span) = other }
      if word(at) == "middle" { throw strange(at, end) }
      return (end, isEnd ? span.upperBound : span.lowerBound)
    }
    return isEnd ? try day(at + 2) : nil
  }

  // MARK: - Dates

  private func date(_ at: Int, _ isNamed: Bool) throws(Failure) -> (Int, Int64)? {
    let text = word(at)
    let named = text.split { "-./".contains($0) }.map(String.init)
    if named.count == 3, Self.month(named[1]) != nil, named[2].utf8.count == 4,
      let (end, day) = try replacing(named).month(0)
    {
      return end == 3 ? (at + 1, day) : nil
    }
    guard let sign = text.first(where: { "-./".contains($0) }) else { return nil }
    var parts = text.split(separator: sign, omittingEmptySubsequences: false)
    let isDotted = sign == "." && parts.count == 3 && parts[2].isEmpty
    if isDotted { parts.removeLast() }
    guard (2...3).contains(parts.count), parts.allSatisfy(Self.isNumber) else { return nil }
    let numbers = parts.map { Int64($0) ?? 0 }
    let sizes = parts.map(\.utf8.count)
    if sizes.count == 3, sizes[0] == 4, sizes[1] <= 2, sizes[2] <= 2 {
      guard let days = Self.days(numbers[0], numbers[1], numbers[2]) else {
        throw fault(at, at + 1)
      }
      return (at + 1, days)
    }
    guard sizes[0] <= 2, sizes[1] <= 2 else { return nil }
    var (first, second, end) = (numbers[0], numbers[1], at + 1)
    var year = numbers.count == 3 ? numbers[2] : isDotted ? year4(end) : nil
    if numbers.count == 3, ![2, 4].contains(sizes[2]) { return nil }
    if numbers.count == 3, sizes[2] == 2 {
      // With two digits, a version or a date.
      if sign == "-" { return nil }
      year = 2000 + numbers[2]
    }
    if numbers.count == 2 {
      if isDotted, year != nil { end += 1 }
      // A fraction, a ratio, a price.
      let isPlain = sign == "-" || sign == "." && !isDotted || text == "24/7"
      if isPlain, sign == "-" || !isNamed { return nil }
      if sign == "/", !isNamed, (first > 12) == (second > 12) { return nil }
      if sign == ".", !(1...31).contains(first) || !(1...12).contains(second) { return nil }
    } else if sign == ".", sizes[2] == 2, !(1...31).contains(first) || !(1...12).contains(second) {
      return nil
    }
    if sign != "." {
      if first <= 12, second <= 12, first != second {
        throw Failure("which is the month: \(text); write 2026-12-01, or 1 dec")
      }
      if second > 12 { (first, second) = (second, first) }
    }
    guard let day = year.map({ Self.days($0, second, first) }) ?? coming(second, first) else {
      throw fault(at, end)
    }
    return (end, day)
  }

  /// `dec 1`, `1st of december 2026`, `december the 24th`.
  private func month(_ at: Int) throws(Failure) -> (Int, Int64)? {
    var (end, month, day) = (at + 1, Int64(0), Int64(0))
    if let name = Self.month(word(at)) {
      if word(end) == "the" { end += 1 }
      // `may` and `march` are other words, too.
      let isWord = [3, 5].contains(name) && Int(word(end).prefix(1)) == nil
      guard !isWord, let number = ordinal(word(end)) else { return nil }
      (month, day, end) = (name, number, end + 1)
    } else if let number = ordinal(word(at)) {
      let isOf = word(end) == "of"
      if isOf { end += 1 }
      guard isOf || Int(word(at).prefix(1)) != nil, let name = Self.month(word(end)) else {
        return nil
      }
      (month, day, end) = (name, number, end + 1)
    } else {
      return nil
    }
    var year = year4(end)
    if word(end).utf8.count == 3, word(end).first == "'", let short = Int64(word(end).dropFirst()) {
      year = 2000 + short
    }
    if year != nil { end += 1 }
    guard let days = year.map({ Self.days($0, month, day) }) ?? coming(month, day) else {
      throw fault(at, end)
    }
    return (end, days)
  }

  /// The next such date. Leap days are eight years apart at most.
  private func coming(_ month: Int64, _ day: Int64) -> Int64? {
    let year = Timestamp.date(days: today).year
    return (year...year + 8).lazy.compactMap { Self.days($0, month, day) }.first { $0 >= today }
  }

  private static let holidays: [(words: [String], month: Int64, day: Int64)] = [
    (["christmas", "eve"], 12, 24), (["christmas", "day"], 12, 25), (["christmas"], 12, 25),
    (["xmas"], 12, 25), (["new", "year's", "eve"], 12, 31), (["new", "years", "eve"], 12, 31),
    (["new", "year's", "day"], 1, 1), (["new", "year"], 1, 1), (["halloween"], 10, 31),
    (["valentine's", "day"], 2, 14), (["valentines", "day"], 2, 14),
  ]

  private func holiday(_ at: Int) -> (Int, Int64)? {
    let rest = words.dropFirst(at)
    guard let found = Self.holidays.first(where: { rest.starts(with: $0.words) }) else {
      return nil
    }
    return coming(found.month, found.day).map { (at + found.words.count, $0) }
  }

  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    guard (1...12).contains(month), day >= 1, day <= Timestamp.daysOf(month: month, year: year)
    else { return nil }
    return Timestamp.days(year: year, month: month, day: day)
  }

  private static func month(_ word: String) -> Int64? {
    guard word.count >= 3 else { return nil }
    return DueWords.months.firstIndex { $0.hasPrefix(word) }.map { Int64($0) + 1 }
  }

  private func year4(_ at: Int) -> Int64? {
    word(at).utf8.count == 4 && Self.isNumber(word(at)[...]) ? Int64(word(at)) : nil
  }

  // MARK: - Parts of a day

  /// Behind `morning`, `in the evening`, `at night`.
  func partEnd(_ at: Int) -> Int? {
    let from =
      word(at) == "in" && word(at + 1) == "the" ? at + 2 : word(at) == "at" ? at + 1 : at
    let parts = from == at + 1 ? ["night"] : ["morning", "afternoon", "evening", "night"]
    return parts.contains(word(from)) ? from + 1 : nil
  }

  func part(_ from: Int, _ to: Int) -> String? {
    guard let last = words[..<min(to, words.count)].dropFirst(from).last else { return nil }
    if ["tonight", "tonite"].contains(last) { return "night" }
    return ["morning", "afternoon", "evening", "night"].contains(last) ? last : nil
  }

  // MARK: - Several days

  /// Behind what comes again: `day`, `2 weeks`, `other day`, with the word before it.
  func period() -> Int? {
    let first = word(1)
    if ["weekday", "weekend", "morning", "afternoon", "evening", "night", "workday"].contains(first)
    {
      return 2
    }
    let digits = first.prefix { $0.isASCII && $0.isNumber }
    let isAlone =
      first == "other" || Self.cardinal(first) != nil
      || !digits.isEmpty && digits.count == first.count
    let name = isAlone ? word(2) : String(first.dropFirst(digits.count))
    if isAlone, weekday(name) != nil { return 3 }
    guard Self.unit(name) != nil, isAlone || name.count > 2 else { return nil }
    return isAlone ? 3 : 2
  }

  /// `mon-fri`, `1-3 dec`, and behind a day `9-11`.
  func range(_ at: Int, isBehindDay: Bool = false) -> Int? {
    let parts = word(at).split(omittingEmptySubsequences: false) { "-–".contains($0) }
    guard parts.count == 2 else { return nil }
    if parts.allSatisfy({ weekday(String($0)) != nil }) { return at + 1 }
    if parts.allSatisfy({ Self.isNumber($0) && $0.count <= 2 }) {
      if Self.month(word(at + 1)) != nil { return at + 2 }
      if isBehindDay || at > 0 && Self.month(word(at - 1)) != nil { return at + 1 }
    }
    let isTime = { (text: Substring) in (try? ClockTime([String(text)], at: 0)) != nil }
    return isTime(parts[1]) && (isTime(parts[0]) || Self.isNumber(parts[0])) ? at + 1 : nil
  }

  func number(_ at: Int) -> Int? { ordinal(word(at)).map { _ in at + 1 } }

  // MARK: - Numbers

  static func isNumber(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 &- 48 < 10 }
  }

  private static let small = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
  ]
  private static let tens: [String: Int64] = [
    "twenty": 20, "thirty": 30, "forty": 40, "forty-five": 45, "fifty": 50, "sixty": 60,
    "ninety": 90, "thirtieth": 30,
  ]
  private static let ordinals = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth",
  ]

  /// `one` to `twenty`, tens, and `twenty-one`.
  static func cardinal(_ word: String) -> Int64? { number(word, small) }

  private static func number(_ word: String, _ names: [String]) -> Int64? {
    if let index = names.firstIndex(of: word) { return Int64(index) + 1 }
    if let number = tens[word] { return (word == "thirtieth") == (names == small) ? nil : number }
    let parts = word.split(separator: "-").map(String.init)
    guard parts.count == 2, let ten = tens[parts[0]], ten % 10 == 0, ten < 40,
      let one = names.firstIndex(of: parts[1]), one < 9
    else { return nil }
    return ten + Int64(one) + 1
  }

  /// `1`, `01`, `1st`, `first`.
  func ordinal(_ word: String) -> Int64? {
    Self.number(word, Self.ordinals) ?? Self.suffixed(word, with: ["", "st", "nd", "rd", "th"])
  }

  private static func suffixed(
    _ word: String, with suffixes: [Substring] = ["st", "nd", "rd", "th"]
  ) -> Int64? {
    let digits = word.prefix { $0.isASCII && $0.isNumber }
    guard (1...2).contains(digits.count), suffixes.contains(word.dropFirst(digits.count)) else {
      return nil
    }
    return Int64(digits)
  }

  // MARK: - So much later

  private struct Amount {
    var months: Int64 = 0
    var days: Int64 = 0
    var minutes: Int64 = 0
    var workdays: Int64 = 0

    /// So many times another one more.
    mutating func add(_ count: Int64, _ one: Amount) {
      months += count * one.months
      days += count * one.days
      minutes += count * one.minutes
      workdays += count * one.workdays
    }
  }

  private static let units: [(one: Amount, half: Amount?, names: [String])] = [
    (Amount(minutes: 1), nil, ["m", "min", "mins", "minute", "minutes"]),
    (Amount(minutes: 60), Amount(minutes: 30), ["h", "hr", "hrs", "hour", "hours"]),
    (Amount(days: 1), Amount(minutes: 720), ["d", "day", "days"]),
    (Amount(days: 7), nil, ["w", "wk", "wks", "week", "weeks"]),
    (Amount(days: 14), Amount(days: 7), ["fortnight", "fortnights"]),
    (Amount(months: 1), nil, ["mo", "mos", "month", "months"]),
    (Amount(months: 3), nil, ["quarter", "quarters"]),
    (Amount(months: 12), Amount(months: 6), ["y", "yr", "yrs", "year", "years"]),
    (Amount(workdays: 1), nil, ["workday", "workdays", "weekday", "weekdays"]),
  ]

  private static func unit(_ name: String) -> (one: Amount, half: Amount?, names: [String])? {
    let end =
      name.hasSuffix("'s") ? name.dropLast(2) : name.hasSuffix("'") ? name.dropLast() : name[...]
    return units.first { $0.names.contains(String(end)) }
  }

  /// `3 days`, `3d`, `two weeks`, `half an hour`, `2h30m`, `an hour and a half`.
  private func amount(_ at: Int) throws(Failure) -> (end: Int, amount: Amount)? {
    var (end, sum) = (at, Amount())
    while let (next, more) = try term(end) {
      sum.add(1, more)
      end = next
      if word(end) == "and", try term(end + 1) != nil { end += 1 }
    }
    return end > at ? (end, sum) : nil
  }

  private func term(_ at: Int) throws(Failure) -> (Int, Amount)? {
    let first = word(at)
    if first == "half" || first == "a" && word(at + 1) == "half" {
      let name = first == "a" ? at + 2 : ["a", "an"].contains(word(at + 1)) ? at + 2 : at + 1
      return Self.unit(word(name))?.half.map { (name + 1, $0) }
    }
    let isCouple = first == "couple" || first == "a" && word(at + 1) == "couple"
    if isCouple {
      let of = first == "a" ? at + 2 : at + 1
      let name = word(of) == "of" ? of + 1 : of
      guard let unit = Self.unit(word(name)) else { return nil }
      var amount = Amount()
      amount.add(2, unit.one)
      return (name + 1, amount)
    }
    let isFew = ["few", "several", "some"].contains(first == "a" ? word(at + 1) : first)
    let few = first == "a" ? at + 2 : at + 1
    if isFew, ["in", "within"].contains(at > 0 ? word(at - 1) : ""), Self.unit(word(few)) != nil {
      throw Failure("how many: \(words[max(at - 1, 0)...few].joined(separator: " "))")
    }
    let spoken = ["a", "an"].contains(first) ? 1 : Self.cardinal(first)
    let digits = spoken.map { "\($0)" } ?? String(first.prefix { $0.isASCII && $0.isNumber })
    let isAlone = spoken != nil || digits == first
    if digits.isEmpty { return nil }
    var rest = isAlone ? word(at + 1) : String(first.dropFirst(digits.count))
    var end = at + (isAlone ? 2 : 1)
    // `2h30m`, `2h30`.
    let letters = rest.prefix { $0.isLetter }
    let more = rest.dropFirst(letters.count)
    var minutes: Int64 = 0
    if !isAlone, !letters.isEmpty, Self.unit(String(letters))?.one.minutes == 60, more.count <= 3 {
      let number = more.prefix { $0.isASCII && $0.isNumber }
      if let count = Int64(number), ["", "m"].contains(more.dropFirst(number.count)) {
        (minutes, rest) = (count, String(letters))
      }
    }
    // `1.5 hours`.
    let isHalf = !isAlone && rest == ".5"
    if isHalf { (rest, end) = (word(end), end + 1) }
    let isWork = ["business", "working"].contains(rest) && ["day", "days"].contains(word(end))
    if isWork { (rest, end) = ("workday", end + 1) }
    guard let unit = Self.unit(rest) else { return nil }
    guard digits.utf8.count <= 4, let count = Int64(digits) else {
      throw fault(max(at - 1, 0), end)
    }
    var amount = Amount(minutes: minutes)
    amount.add(count, unit.one)
    let isAndHalf = word(end) == "and" && word(end + 1) == "a" && word(end + 2) == "half"
    // `two and a half hours` has the unit behind it.
    if isHalf || isAndHalf {
      guard let half = unit.half else { throw fault(max(at - 1, 0), end) }
      amount.add(1, half)
      if isAndHalf { end += 3 }
    }
    return (end, amount)
  }

  /// Behind `2 hours before`, which is of no day.
  func hoursAside(_ at: Int) throws(Failure) -> Int? {
    guard let (end, amount) = try amount(at), amount.minutes > 0 else { return nil }
    return ["before", "after", "from"].contains(word(end)) ? end + 1 : nil
  }

  /// `in 3 days`, `+3 days`, `within a week`, `2 hours from now`.
  private func stretch(_ at: Int) throws(Failure) -> (Int, Amount)? {
    let isIn = ["in", "within"].contains(word(at))
    let isPlus = word(at).first == "+" && word(at).count > 1
    if isPlus {
      let other = replacing([String(word(at).dropFirst())] + words.dropFirst(at + 1))
      return try other.amount(0).map { (at + $0.end, $0.amount) }
    }
    let isNext = isIn && word(at + 1) == "the" && word(at + 2) == "next"
    guard let (end, amount) = try amount(isNext ? at + 3 : isIn ? at + 1 : at) else { return nil }
    if !isIn { return word(end) == "from" && word(end + 1) == "now" ? (end + 2, amount) : nil }
    if word(end) == "from", word(end + 1) == "now" { return (end + 2, amount) }
    return (word(end) == "time" ? end + 1 : end, amount)
  }

  private func later(_ at: Int) throws(Failure) -> (Int, Int64)? {
    if let (end, amount) = try stretch(at) {
      return amount.minutes == 0 ? (end, moved(today, amount, 1)) : nil
    }
    if let count = Self.cardinal(word(at)) ?? Int64(word(at).prefix(3)),
      let weekday = weekday(String(word(at + 1).dropLast())), word(at + 2) == "from",
      word(at + 3) == "now"
    {
      return (at + 4, Self.first(weekday, behind: today) + 7 * (count - 1))
    }
    guard let (end, amount) = try amount(at), amount.minutes == 0 else { return nil }
    let isWeeks = amount.days > 0 && amount.days % 7 == 0 && amount.months == 0
    if isWeeks, Int(word(at).prefix(1)) == nil, amount.workdays == 0 {
      if weekday(word(end)) != nil { throw strange(at, end + 1) }
      // `a week on friday`, `a week today`.
      let from = word(end) == "on" ? end + 1 : end
      let isDay = ["today", "tomorrow"].contains(word(from))
      if isDay || from > end && weekday(word(from)) != nil, let (last, day) = try day(from) {
        return (last, moved(day, amount, 1))
      }
    }
    guard let sign = word(end) == "from" ? 1 : Self.signs[word(end)],
      let (last, day) = try day(end + 1, isNamed: true)
    else {
      return nil
    }
    return (last, moved(day, amount, sign))
  }

  private func moved(_ day: Int64, _ amount: Amount, _ sign: Int64) -> Int64 {
    let date = Timestamp.date(days: day)
    let months = Timestamp.days(
      year: date.year, month: date.month, day: date.day, more: sign * amount.months)
    return working(amount.workdays, behind: months + sign * amount.days)
  }

  func hours(_ at: Int) throws(Failure) -> (Int, DueTime)? {
    guard let (end, amount) = try stretch(at), amount.minutes > 0 else { return nil }
    let second = (zone.shown(now) ?? 0) - today * 86_400
    let day = moved(today, amount, 1)
    let start = day == today ? now : zone.instant(day: day, second: second) ?? now
    let time = start.seconds + amount.minutes * 60
    return (end, .instant(Timestamp(seconds: time - time % 60)))
  }
}

extension Timestamp {
  /// The day so many months behind a date, or the last of that month if it is shorter.
  fileprivate static func days(year: Int64, month: Int64, day: Int64, more: Int64) -> Int64 {
    let months = year * 12 + month - 1 + more
    let index = (months % 12 + 12) % 12
    let (year, month) = ((months - index) / 12, index + 1)
    return days(year: year, month: month, day: min(day, daysOf(month: month, year: year)))
  }
}
