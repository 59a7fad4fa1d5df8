/// The words of one block of Markdown, without marks, code, URLs, paths and references.
struct ProseMarks {
  private let bytes: [UInt8]
  private var at = 0
  private var out = ProseText()
  /// Where the word ends that was looked at last, and what of it is left out.
  private var word = (end: 0, unsaid: 0..<0)
  /// Brackets that are open.
  private var depth = 0
  /// No link can begin before this.
  private var noLinkBefore = 0
  /// No word in scripts without spaces is a URL or a path before this.
  private var noWordBefore = 0
  private var searches = ProseSearches()

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The words, as soon as there are so many bytes of them.
  mutating func text(atMost limit: Int) -> [UInt8] {
    while at < bytes.count, out.bytes.count < limit {
      if at >= word.end { lookAtWord() }
      if word.unsaid.contains(at) {
        leaveOut(to: word.unsaid.upperBound)
      } else {
        step()
      }
    }
    return out.finished()
  }

  private mutating func lookAtWord() {
    var end = at
    while end < bytes.count, !isDelimiter(end) { end += 1 }
    word = (max(end, at + 1), 0..<0)
    if end == at { return }
    let short = ProseWord(bytes, at..<end)
    var unsaid = short.unsaid
    if end < bytes.count, bytes[end] >= 0xe2, at >= noWordBefore,
      unsaid != nil ? !short.isReference : short.isSign && !isLetter(before: at)
    {
      // What is a URL or a path goes on in scripts that have no spaces.
      while end < bytes.count, !isDelimiter(end) || isLetter(at: end) { end += 1 }
      unsaid = ProseWord(bytes, at..<end).unsaid
      if unsaid == nil { noWordBefore = end } else { word.end = end }
    } else if unsaid == nil, out.isGap, short.isSlash {
      // Of `a`/`b` nothing is left.
      unsaid = short.core
    }
    word.unsaid = unsaid ?? 0..<0
  }

  /// What no URL and no path has; scripts without spaces between words begin at U+2E80, and
  /// from U+2000 on there are dashes and quotes.
  private func isDelimiter(_ place: Int) -> Bool {
    switch bytes[place] {
    case ...32, UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: "|"), UInt8(ascii: "\""), UInt8(ascii: "`"), 0xe2...:
      true
    case 0xc2: [0xa0, 0xab, 0xbb].contains(byte(place + 1))
    default: false
    }
  }

  /// Whether a scalar of three bytes or more begins at a place that is no mark of punctuation.
  private func isLetter(at place: Int) -> Bool {
    guard bytes[place] >= 0xe2 else { return false }
    let count = bytes[place] < 0xf0 ? 3 : 4
    let text = String(decoding: bytes[place...].prefix(count), as: UTF8.self)
    guard let properties = text.unicodeScalars.first?.properties else { return false }
    if properties.isAlphabetic || properties.numericType != nil { return true }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return true
    default: return false
    }
  }

  private func isLetter(before place: Int) -> Bool {
    var start = place - 1
    while start > 0, bytes[start] & 0xc0 == 0x80 { start -= 1 }
    return start >= 0 && isLetter(at: start)
  }

  private func byte(_ place: Int) -> UInt8 {
    place >= 0 && place < bytes.count ? bytes[place] : 32
  }

  private mutating func leaveOut(to end: Int) {
    at = end
    out.gap()
  }

  // MARK: - Marks

  private mutating func step() {
    let byte = bytes[at]
    switch byte {
    case UInt8(ascii: "`"): code()
    case UInt8(ascii: "!"):
      if self.byte(at + 1) != UInt8(ascii: "[") { out.add(byte) }
      at += 1
    case UInt8(ascii: "["): bracket()
    case UInt8(ascii: "]"): closeBracket()
    case UInt8(ascii: "<"): angle()
    case UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"): emphasis(byte)
    case UInt8(ascii: "&"): entity()
    case UInt8(ascii: "\\"):
      at += 1
      // Whatever is escaped is no mark.
      if self.byte(at).isPunctuation { out.add(self.byte(at)) } else { out.add(byte) }
      if self.byte(at).isPunctuation { at += 1 }
    case 0x1b where self.byte(at + 1) == UInt8(ascii: "["): control()
    case 0xc2 where self.byte(at + 1) == 0xa0:
      out.add(32)
      at += 2
    case 0xc2 where isDelimiter(at), 0xe2...:
      // One scalar, whose other bytes are no delimiters.
      let start = at
      repeat { at += 1 } while self.byte(at) & 0xc0 == 0x80
      word.end = at
      if out.isClosed(byQuote: bytes[start..<at]) { return }
      for byte in bytes[start..<at] { out.add(byte) }
    default:
      out.add(byte)
      at += 1
    }
  }

  private mutating func code() {
    var end = at
    while byte(end) == UInt8(ascii: "`") { end += 1 }
    if let close = searches.closing(of: at..<end, in: bytes) { return leaveOut(to: close) }
    at = end
  }

  /// `[`: a note is left out, else it is a mark.
  private mutating func bracket() {
    let next = byte(at + 1)
    if next == UInt8(ascii: "^") || next == UInt8(ascii: "!") && byte(at + 2).isLetter {
      let end = bytes[at...].prefix(64).firstIndex { $0 == UInt8(ascii: "]") || $0 <= 32 }
      if let end, bytes[end] == UInt8(ascii: "]") { return leaveOut(to: end + 1) }
    }
    depth += 1
    at += 1
  }

  private mutating func closeBracket() {
    at += 1
    guard depth > 0 else { return }
    depth -= 1
    if byte(at) == UInt8(ascii: "(") {
      if at >= noLinkBefore { destination() }
    } else if byte(at) == UInt8(ascii: "["), byte(at + 1) != UInt8(ascii: "^") {
      if let end = searches.next(UInt8(ascii: "]"), from: at, in: bytes), end - at < 256 {
        at = end + 1
      }
    }
  }

  /// `(URL "title")` behind the words of a link.
  private mutating func destination() {
    var place = at + 1
    var open = 1
    if byte(place) == UInt8(ascii: "<") {
      place = searches.next(UInt8(ascii: ">"), from: place, in: bytes).map { $0 + 1 } ?? place
    }
    while place < bytes.count, bytes[place] > 32 {
      if bytes[place] == UInt8(ascii: "\\") { place += 1 }
      if byte(place) == UInt8(ascii: "(") { open += 1 }
      if byte(place) == UInt8(ascii: ")") { open -= 1 }
      if open == 0 { break }
      place += 1
    }
    if open > 0 {
      while place < bytes.count, bytes[place] <= 32 { place += 1 }
      let quote = byte(place)
      // A title in quotes, or no link.
      let end =
        quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        ? searches.next(quote, from: place + 1, in: bytes) : nil
      guard let end, byte(end + 1) == UInt8(ascii: ")") else {
        noLinkBefore = place
        return
      }
      place = end + 1
    }
    at = min(place + 1, bytes.count)
  }

  /// `<`: a tag, a comment or an address, else itself.
  private mutating func angle() {
    guard let tag = ProseTag(bytes, at, &searches) else {
      out.add(bytes[at])
      at += 1
      return
    }
    at = tag.end
    if tag.isGap { out.gap() }
    if tag.isSpace { out.add(32) }
  }

  private mutating func emphasis(_ mark: UInt8) {
    var end = at
    while end < bytes.count, bytes[end] == mark { end += 1 }
    let (before, after) = (byte(at - 1), byte(end))
    let isText =
      switch mark {
      case UInt8(ascii: "~"): end - at == 1
      case UInt8(ascii: "_"): ProseWord.isWordByte(before) && ProseWord.isWordByte(after)
      // 2*3, and 2 * 3
      default: before.isDigit && after.isDigit
      }
    let isAlone = end - at == 1 && before <= 32 && after <= 32 && at > 0 && end < bytes.count
    if isText || isAlone { for byte in bytes[at..<end] { out.add(byte) } }
    at = end
  }

  /// What would colour a terminal (ECMA-48, 5.4).
  private mutating func control() {
    at += 2
    while (0x20...0x3f).contains(byte(at)), at < bytes.count { at += 1 }
    if (0x40...0x7e).contains(byte(at)) { at += 1 }
    word.end = at
  }

  private mutating func entity() {
    let names: [(String, UInt8)] = [
      ("&amp;", 0x26), ("&lt;", 0x3c), ("&gt;", 0x3e), ("&quot;", 0x22), ("&#39;", 0x27),
      ("&apos;", 0x27), ("&nbsp;", 0x20),
    ]
    for (name, byte) in names where bytes[at...].starts(with: name.utf8) {
      out.add(byte)
      at += name.utf8.count
      return
    }
    out.add(bytes[at])
    at += 1
  }
}

extension UInt8 {
  var isDigit: Bool { self &- 48 < 10 }
  var isLetter: Bool { (self | 0x20) &- 97 < 26 }
  /// A mark of ASCII.
  var isPunctuation: Bool { self > 32 && self < 127 && !isDigit && !isLetter }
}
