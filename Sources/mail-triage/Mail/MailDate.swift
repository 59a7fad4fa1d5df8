import Core

/// The time of a field `Date` (RFC 5322, sections 3.3 and 4.3).
enum MailDate {
  /// - Returns: nil for what is no date, or none from 1970 to 9999.
  static func time(_ field: String) -> Timestamp? {
    var words = Self.bare(field.prefix(200))
      .split { $0 == "," || $0 == " " || $0 == "\t" }
    if let first = words.first, first.first?.isLetter == true { words.removeFirst() }
    guard words.count >= 4, let day = number(words[0], 1...2),
      let month = months.firstIndex(of: words[1].prefix(3).lowercased()),
      var year = number(words[2], 2...4)
    else { return nil }
    if words[2].count == 2 { year += year < 50 ? 2000 : 1900 }
    if words[2].count == 3 { year += 1900 }
    let clock = words[3].split(separator: ":", omittingEmptySubsequences: false)
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
    if word.first == "+" || word.first == "-" {
      guard word.count == 5, number(word.dropFirst(), 4...4) != nil else { return nil }
      return word.prefix(3) + ":" + word.suffix(2)
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
