import CLibc
import Core

/// The header of a mail or of one of its parts (RFC 5322, section 2.2): those fields that are
/// asked for here, the first of each name.
struct MailHeader {
  /// What was kept, by names in lower case; unfolded, and raw.
  private var fields: [String: [UInt8]] = [:]
  private(set) var body: Int
  /// Whether it was longer than `mostBytes`. There is no body then.
  private(set) var isCut = false
  private(set) var isEmpty = true

  /// The longest header that is read, and the longest field, bytes.
  static let mostBytes = 256 << 10
  static let mostOfField = 32 << 10

  private static let wanted: Set<String> = [
    "from", "sender", "to", "cc", "delivered-to", "x-original-to", "subject", "date",
    "message-id", "in-reply-to", "references", "list-id", "precedence", "auto-submitted",
    "content-type", "content-transfer-encoding", "content-disposition",
  ]

  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    let limit = min(range.upperBound, range.lowerBound + Self.mostBytes)
    var lines = MailLines(bytes, range.lowerBound..<limit)
    body = range.upperBound
    var name: String?
    var isFirst = true
    while true {
      let start = lines.place
      let line = lines.next()
      if lines.place == limit, limit < range.upperBound {
        isCut = true
        return
      }
      guard let line else { return }
      defer { isFirst = false }
      if line.isEmpty {
        body = lines.place
        return
      }
      if bytes[line.lowerBound].isBlank, !isFirst {
        add(bytes[line], to: name)
        continue
      }
      guard let colon = Self.colon(bytes, line) else {
        // The line that a mailbox has in front.
        if isFirst, bytes[line].starts(with: "From ".utf8) { continue }
        // Who forgets the line between them has a body that begins here.
        body = start
        return
      }
      isEmpty = false
      let raw = bytes[line.lowerBound..<colon.name]
      name = String(decoding: raw, as: UTF8.self).lowercased()
      if let found = name, Self.wanted.contains(found), fields[found] == nil {
        fields[found] = []
        add(bytes[colon.place + 1..<line.upperBound], to: name)
      } else {
        name = nil
      }
    }
  }

  static func isField(_ line: UnsafeRawBufferPointer) -> Bool {
    colon(line, 0..<line.count) != nil
  }

  private static func colon(
    _ bytes: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> (place: Int, name: Int)? {
    // A brace begins a record, which may lie where mails are.
    guard let place = bytes[line].firstIndex(of: UInt8(ascii: ":")),
      bytes[line].first != UInt8(ascii: "{")
    else { return nil }
    var end = place
    while end > line.lowerBound, bytes[end - 1].isBlank { end -= 1 }
    let name = bytes[line.lowerBound..<end]
    guard !name.isEmpty, name.count <= 100, name.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      return nil
    }
    return (place, end)
  }

  private mutating func add(_ bytes: Slice<UnsafeRawBufferPointer>, to name: String?) {
    guard let name, let count = fields[name]?.count else { return }
    fields[name]?.append(contentsOf: bytes.prefix(Self.mostOfField - count))
  }

  /// Without blanks around it, its encoded words as they are; nil when it is missing.
  func raw(_ name: String) -> String? {
    fields[name].map { Charset.guess($0).trimmed }
  }

  func text(_ name: String) -> String? { raw(name).map(EncodedWords.decode) }
}

/// The lines of a run of bytes, one after the other, without the LF and the CR before it.
struct MailLines {
  private let bytes: UnsafeRawBufferPointer
  private(set) var place: Int
  private let end: Int

  init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    self.bytes = bytes
    place = range.lowerBound
    end = range.upperBound
  }

  mutating func next() -> Range<Int>? {
    guard place < end else { return nil }
    let start = place
    let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    let length = rest.placeOfLineFeed ?? rest.count
    place = min(end, start + length + 1)
    let hasReturn = length > 0 && rest[length - 1] == 13
    return start..<start + length - (hasReturn ? 1 : 0)
  }
}

extension UnsafeRawBufferPointer {
  var placeOfLineFeed: Int? {
    guard let start = baseAddress, let found = memchr(start, 10, count) else { return nil }
    return UnsafeRawPointer(found) - start
  }
}

extension UInt8 {
  var isBlank: Bool { self == 0x20 || self == 0x09 }
}

struct MailAddress: Equatable {
  var name: String
  /// `ada@example.com`, as it was written.
  var address: String

  static let most = 200

  /// The addresses of a field (RFC 5322, section 3.4), as far as they can be made out.
  static func list(_ field: String) -> [MailAddress] {
    var reader = Reader()
    for scalar in field.unicodeScalars where reader.found.count < most { reader.append(scalar) }
    reader.end()
    return reader.found
  }

  private struct Reader {
    var found: [MailAddress] = []
    private var phrase = ""
    private var comment = ""
    private var address: String?
    private var isInAngle = false
    private var isQuoted = false
    private var isEscaped = false
    private var depth = 0

    mutating func append(_ scalar: Unicode.Scalar) {
      if isEscaped {
        isEscaped = false
        return add(scalar)
      }
      if scalar == "\\", isQuoted || depth > 0 {
        isEscaped = true
        return
      }
      if isQuoted {
        guard scalar == "\"" else { return add(scalar) }
        isQuoted = false
        if isInAngle { add(scalar) }
        return
      }
      if depth > 0 {
        if scalar == "(" { depth += 1 }
        if scalar == ")" { depth -= 1 }
        if depth > 0 { add(scalar) }
        return
      }
      switch scalar {
      case "\"":
        if isInAngle { add(scalar) }
        isQuoted = true
      case "(": depth = 1
      case "<" where !isInAngle: (isInAngle, address) = (true, "")
      case ">" where isInAngle: isInAngle = false
      case "," where !isInAngle, ";" where !isInAngle: end()
      // The name of a group.
      case ":" where !isInAngle: (phrase, comment) = ("", "")
      default: add(scalar)
      }
    }

    private mutating func add(_ scalar: Unicode.Scalar) {
      if depth > 0 {
        comment.unicodeScalars.append(scalar)
      } else if isInAngle {
        if !scalar.properties.isWhitespace { address?.unicodeScalars.append(scalar) }
      } else {
        phrase.unicodeScalars.append(scalar)
      }
    }

    mutating func end() {
      defer { (phrase, comment, address, isInAngle, isQuoted) = ("", "", nil, false, false) }
      if let address, !address.isEmpty {
        found.append(
          MailAddress(name: PlainText.line(EncodedWords.decode(phrase)), address: address))
        return
      }
      let bare = phrase.filter { !$0.isWhitespace }
      guard !bare.isEmpty else { return }
      // A name without an address is at least that.
      let isAddress = bare.contains("@")
      let name = isAddress ? comment : phrase
      found.append(
        MailAddress(
          name: PlainText.line(EncodedWords.decode(name)), address: isAddress ? bare : ""))
    }
  }
}

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
