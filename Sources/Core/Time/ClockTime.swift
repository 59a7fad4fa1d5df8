/// A time of the day in the words of people: `9:00`, `09:00:30`, `9am`, `4:30 pm`, `9:00Z`,
/// `9:00 UTC`, `9 in the morning`, `half past nine`, `noon`.
struct ClockTime {
  private(set) var end: Int
  /// Behind midnight.
  private(set) var second: Int64 = 0
  /// In UTC, not in the zone of who says it.
  private(set) var isUniversal = false
  /// Whether it is midnight by name, which ends one day and begins another.
  private(set) var isMidnight = false

  /// The zones whose clocks are not known here, as far as they are no words.
  private static let zones = [
    "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "cet", "cest", "bst", "ist", "jst",
    "eet", "eest", "aest", "aedt", "nzst", "hst", "akst", "msk", "et", "pt", "ct",
  ]

  private static let halves: [(String, Int64)] = [("am", 0), ("a.m", 0), ("pm", 12), ("p.m", 12)]

  static func isNear(_ word: String) -> Bool {
    word.first.map { $0.isASCII && $0.isNumber } == true || DueDays.cardinal(word) != nil
      || ["noon", "midday", "midnight"].contains(word)
  }

  /// Reads what begins at one of some words. Returns nil when no time begins there.
  init?(
    _ words: [String], at: Int, isBehindAt: Bool = false, part: String? = nil
  ) throws(Failure) {
    let word = { (index: Int) in index < words.count ? words[index] : "" }
    let first = word(at) == "12" ? at + 1 : at
    if ["noon", "midday", "midnight"].contains(word(first)) {
      end = first + 1
      isMidnight = word(first) == "midnight"
      second = isMidnight ? 0 : 43_200
      return
    }
    end = at + 1
    var text = word(at)
    var isVague = false
    if let (spoken, next) = Self.spoken(words, at, isBehindAt) {
      (text, end, isVague) = (spoken, next, true)
    } else if let number = DueDays.cardinal(text) {
      let isHour = ["o'clock", "oclock", "am", "pm", "a.m", "p.m"].contains(word(at + 1))
      guard isHour || isBehindAt else { return nil }
      text = "\(number)"
    }
    isUniversal = text.last == "z" && text.utf8.contains(58)
    if isUniversal { text.removeLast() }
    var half: Int64?
    if let found = Self.halves.first(where: { text.hasSuffix($0.0) }) {
      (half, text) = (found.1, String(text.dropLast(found.0.count)))
    } else if let found = Self.halves.first(where: { word(end) == $0.0 }) {
      (half, end) = (found.1, end + 1)
    }
    var isHour = half != nil || isBehindAt
    if ["o'clock", "oclock"].contains(word(end)) { (isHour, end) = (true, end + 1) }
    if isHour {
      if text.last == "." { text.removeLast() }
      text = String(text.map { $0 == "." ? ":" : $0 })
    }
    text = Self.colon(text, isBehindAt)
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (isHour ? 1...3 : 2...3).contains(parts.count), parts.allSatisfy(DueDays.isNumber),
      parts[0].utf8.count <= 2, parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
    else { return nil }
    let numbers = parts.map { Int64($0) ?? 60 } + [0, 0]
    let behind = Self.part(words, end)
    if let behind, half == nil { end = behind.end }
    let part = behind?.name ?? part
    let said = words[at..<end].joined(separator: " ")
    let isAlone = half == nil && parts.count == 1
    // A number of something else.
    if isAlone, numbers[0] > 23 { return nil }
    if half == nil, part == nil, isVague || isAlone, (1...12).contains(numbers[0]) {
      throw Failure("in the morning or the evening: at \(said)")
    }
    let hours = half == nil ? 0...23 : 1...12 as ClosedRange<Int64>
    guard hours.contains(numbers[0]), numbers[1] < 60, numbers[2] < 60 else {
      throw Failure("no such time: \(said)")
    }
    if ["utc", "gmt", "z"].contains(word(end)) { (isUniversal, end) = (true, end + 1) }
    let zone = word(end)
    let offset = ["utc", "gmt"].contains(zone.prefix(3)) ? zone.dropFirst(3) : zone[...]
    let isOffset =
      offset.first.map { "+-".contains($0) } == true
      && offset.dropFirst().first?.isNumber == true
    guard !isOffset, !Self.zones.contains(zone) else {
      throw Failure("a time is local or in UTC: \(said) \(zone)")
    }
    var hour = half.map { numbers[0] % 12 + $0 } ?? numbers[0]
    if half == nil, let part {
      guard let meant = Self.hour(hour, of: part) else {
        throw Failure("no such time: \(said), in the \(part)")
      }
      hour = meant
    }
    second = hour * 3600 + numbers[1] * 60 + numbers[2]
  }

  /// `in the evening`, `at night`, behind a time.
  private static func part(_ words: [String], _ at: Int) -> (end: Int, name: String)? {
    let rest = words.dropFirst(at).prefix(3)
    if rest.starts(with: ["at", "night"]) { return (at + 2, "night") }
    guard rest.starts(with: ["in", "the"]), let name = rest.last,
      ["morning", "afternoon", "evening"].contains(name)
    else { return nil }
    return (at + 3, name)
  }

  private static func hour(_ hour: Int64, of part: String) -> Int64? {
    switch (part, hour) {
    case ("morning", 0...11), ("afternoon", 12...18), ("evening", 16...23), ("night", 19...23):
      hour
    case ("afternoon", 1...6), ("evening", 4...11), ("night", 7...11): hour + 12
    default: nil
    }
  }

  /// `half past nine`, `quarter to 10`, `20 past eight`.
  private static func spoken(
    _ words: [String], _ at: Int, _ isBehindAt: Bool
  ) -> (String, Int)? {
    let word = { (index: Int) in index < words.count ? words[index] : "" }
    let from = word(at) == "a" && word(at + 1) == "quarter" ? at + 1 : at
    let minutes: Int64? =
      switch word(from) {
      case "half": 30
      case "quarter": 15
      case let name: isBehindAt ? DueDays.cardinal(name) ?? Int64(name) : nil
      }
    let hour = DueDays.cardinal(word(from + 2)) ?? Int64(word(from + 2))
    guard let minutes, let hour, (1...30).contains(minutes), (1...12).contains(hour) else {
      return nil
    }
    switch word(from + 1) {
    case "past": return ("\(hour):\(minutes.digits(2))", from + 3)
    case "to": return ("\((hour + 10) % 12 + 1):\((60 - minutes).digits(2))", from + 3)
    default: return nil
    }
  }

  /// `17h`, `17h30` and, behind `at`, `1730` with a colon.
  private static func colon(_ text: String, _ isBehindAt: Bool) -> String {
    let parts = text.split(separator: "h", omittingEmptySubsequences: false)
    if parts.count == 2, parts.allSatisfy({ $0.utf8.count <= 2 }), DueDays.isNumber(parts[0]),
      parts[1].isEmpty ? isBehindAt : DueDays.isNumber(parts[1])
    {
      return parts[0] + ":" + (parts[1].isEmpty ? "00" : parts[1])
    }
    if isBehindAt, text.utf8.count == 4, DueDays.isNumber(text[...]) {
      return text.prefix(2) + ":" + text.suffix(2)
    }
    return text
  }
}
