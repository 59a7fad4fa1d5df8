import Core

/// The time of a field `Date` (RFC 5322, sections 3.3 and 4.3), also as of ctime(3), with hyphens
/// between day, month and year, or as in ISO 8601.
enum MailDate {
  /// Nil for what is no date, or none from 1970 to 9999.
  static func time(_ field: String) -> Timestamp? {
    let words = inOrder(Self.bare(field.prefix(200)).split { $0 == "," || $0 == " " || $0 == "\t" })
    guard words.count >= 4, let day = number(words[0], 1...2), let month = month(words[1]),
      var year = number(words[2], 2...4)
    else { return nil }
    if words[2].count == 2 { year += year < 50 ? 2000 : 1900 }
    if words[2].count == 3 { year += 1900 }
    let clock = words[3].split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "." }
    guard year >= 1970, (2...3).contains(clock.count), let hour = number(clock[0], 1...2),
      let minute = number(clock[1], 1...2),
      let second = clock.count == 3 ? number(clock[2], 1...2) : 0,
      let zone = zone(words.count > 4 ? words[4] : "+0000")
    else { return nil }
    let time = Timestamp(
      rfc3339: pad(year, 4) + "-" + pad(month + 1) + "-" + pad(day) + "T" + pad(hour) + ":"
        + pad(minute) + ":" + pad(second) + zone)
    return time.flatMap { $0.seconds < 0 ? nil : $0 }
  }

  /// Day, month, year, clock and zone, in whatever order they came.
  private static func inOrder(_ given: [Substring]) -> [Substring] {
    var words = given
    if let first = words.first, first.first?.isLetter == true, month(first) == nil {
      words.removeFirst()
    }
    guard let first = words.first else { return [] }
    let parts = first.split(separator: "-")
    if parts.count == 3 {
      // 2026-11-23T10:00:00+01:00, or 23-Nov-26.
      let day = parts[2].split { $0 == "T" || $0 == "t" }
      guard let date = day.first else { return [] }
      words.replaceSubrange(
        0...0, with: parts[0].count == 4 ? [date, parts[1], parts[0]] + day.dropFirst() : parts)
      guard words.count > 3 else { return words }
      let mark = words[3].firstIndex { $0 == "+" || $0 == "-" || $0 == "Z" || $0 == "z" }
      if let mark { words.replaceSubrange(3...3, with: [words[3][..<mark], words[3][mark...]]) }
      // A part of a second.
      if parts[0].count == 4 { words[3] = words[3].prefix { $0 != "." } }
    } else if first.first?.isLetter == true, words.count >= 4 {
      // Mon Nov 23 10:00:00 [EST] 2026
      let zone = words.count > 4 ? [words[3]] : []
      words = [words[1], first, words[words.count > 4 ? 4 : 3], words[2]] + zone
    }
    return words
  }

  /// From 0; nil for no month.
  private static func month(_ word: Substring) -> Int? {
    if let number = number(word, 2...2), (1...12).contains(number) { return number - 1 }
    return months.firstIndex(of: word.prefix(3).lowercased())
  }

  /// A field without its comments, which may stand in one another.
  private static func bare(_ field: Substring) -> String {
    var level = 0
    var isQuoted = false
    var found = ""
    for letter in field {
      if isQuoted {
        isQuoted = false
      } else if letter == "\\" {
        isQuoted = true
      } else if letter == "(" {
        level += 1
        found += " "
      } else if letter == ")" {
        level -= 1
        if level < 0 { return "" }
      } else if level == 0 {
        found.append(letter)
      }
    }
    return found
  }

  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// As in RFC 3339; a name that is not known means nothing (RFC 5322, section 4.3).
  private static func zone(_ word: Substring) -> String? {
    var word = word
    for name in ["GMT", "UTC", "UT"] where word.count > name.count && word.hasPrefix(name) {
      word = word.dropFirst(name.count)
    }
    if let sign = word.first, sign == "+" || sign == "-" {
      // +0100, and as some wrote it +01:00, +01 and +1.
      var digits = word.dropFirst().filter { $0 != ":" }
      if digits.count < 3 { digits = pad(Int(digits) ?? -1) + "00" }
      guard number(digits[...], 4...4) != nil else { return nil }
      return String(sign) + digits.prefix(2) + ":" + digits.suffix(2)
    }
    let hours = ["edt": 4, "est": 5, "cdt": 5, "cst": 6, "mdt": 6, "mst": 7, "pdt": 7, "pst": 8]
    return "-" + pad(hours[word.lowercased()] ?? 0) + ":00"
  }

  private static func number(_ word: Substring, _ digits: ClosedRange<Int>) -> Int? {
    guard digits.contains(word.utf8.count), word.utf8.allSatisfy({ $0 &- 48 < 10 }) else {
      return nil
    }
    return Int(word)
  }

  private static func pad(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
