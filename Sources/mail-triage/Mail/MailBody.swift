import Core
import Prose

/// What the body of a mail says first: its text, and what else came with it (RFC 2045, 2046).
struct MailBody {
  private(set) var text: String?
  private(set) var hasAttachment = false
  private(set) var hasCalendar = false
  private var html: String?
  private let bytes: UnsafeRawBufferPointer
  private var parts = 0

  /// Parts and levels beyond these are not looked at, nor is more of a text, in bytes.
  static let mostParts = 100
  static let mostLevels = 8
  static let mostOfText = 64 << 10
  /// The longest text that is kept, scalars.
  static let mostKept = 16 << 10

  init(_ bytes: UnsafeRawBufferPointer, _ header: MailHeader, end: Int) {
    self.bytes = bytes
    look(at: header, end, level: 0)
    if text == nil { text = html }
  }

  private mutating func look(at header: MailHeader, _ end: Int, level: Int) {
    parts += 1
    var type = ContentType(header.raw("content-type") ?? "text/plain")
    let range = min(header.body, end)..<end
    if type.kind == "multipart" {
      if level >= Self.mostLevels { return }
      // What is damaged is guessed: a boundary by the first line that looks like one.
      let named = type["boundary"].map { Array("--\($0)".utf8) } ?? []
      if (3...202).contains(named.count), split(range, named, level) { return }
      if let guessed = boundary(range), split(range, guessed, level) { return }
      type = ContentType("text/plain")
    } else if !type.isWhole {
      type = type.asPlain
    }
    let disposition = ContentType(header.raw("content-disposition"))
    if type.value == "text/calendar" { hasCalendar = true }
    if disposition.value == "attachment" || type.kind != "text" && disposition.value != "inline" {
      hasAttachment = true
      return
    }
    guard type.kind == "text", text == nil else { return }
    let isHTML = type.value == "text/html"
    guard isHTML ? html == nil : type.value == "text/plain" else { return }
    let found = text(range, header, type)
    if isHTML {
      let plain = HTMLText.plain(found)
      if !plain.allSatisfy(\.isWhitespace) { html = PlainText.kept(plain, most: Self.mostKept) }
    } else if !found.allSatisfy(\.isWhitespace) {
      text = PlainText.kept(found, most: Self.mostKept)
    }
  }

  private func boundary(_ range: Range<Int>) -> [UInt8]? {
    var lines = MailLines(bytes, range)
    while let line = lines.next() {
      let text = bytes[line].reversed().drop(while: \.isBlank).reversed()
      if (4...202).contains(text.count), text.starts(with: "--".utf8),
        !text.contains(where: \.isBlank), text.contains(where: \.isAlphanumeric)
      {
        return Array(text)
      }
    }
    return nil
  }

  /// Whether there was a part.
  private mutating func split(_ range: Range<Int>, _ boundary: [UInt8], _ level: Int) -> Bool {
    let before = parts
    var lines = MailLines(bytes, range)
    var start: Int?
    var last = range.lowerBound
    while parts < Self.mostParts {
      let place = lines.place
      guard let line = lines.next() else { break }
      guard line.count >= boundary.count, bytes[line].starts(with: boundary) else { continue }
      var rest = bytes[line].dropFirst(boundary.count)
      let isEnd = rest.starts(with: "--".utf8)
      if isEnd { rest = rest.dropFirst(2) }
      guard rest.allSatisfy(\.isBlank) else { continue }
      // The line end before a boundary belongs to the boundary.
      if let start { part(start..<max(start, place - 1), level) }
      start = isEnd ? nil : lines.place
      last = lines.place
      if isEnd { return parts > before }
    }
    // What is cut has no end.
    if let start, parts < Self.mostParts { part(start..<max(last, range.upperBound), level) }
    return parts > before
  }

  private mutating func part(_ range: Range<Int>, _ level: Int) {
    look(at: MailHeader(bytes, range), range.upperBound, level: level + 1)
  }

  private func text(_ range: Range<Int>, _ header: MailHeader, _ type: ContentType) -> String {
    let source = Array(bytes[range].prefix(Self.mostOfText))
    let raw: [UInt8]
    switch ContentType(header.raw("content-transfer-encoding")).value {
    case "base64": raw = TransferCode.base64(source)
    case "quoted-printable": raw = TransferCode.quotedPrintable(source)
    default: raw = source
    }
    guard let charset = type["charset"].flatMap({ Charset($0) }) else { return Charset.guess(raw) }
    return charset.text(raw)
  }
}

/// What a page of HTML says, without its tags. Enough for a preview: nothing is laid out, and
/// what is hidden by a style is not.
enum HTMLText {
  private static let silent: Set<String> = ["script", "style", "title"]
  private static let blocks: Set<String> = [
    "address", "article", "blockquote", "br", "dd", "div", "dt", "footer", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hr", "li", "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul",
  ]

  static func plain(_ html: String) -> String {
    let bytes = Array(html.utf8)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var at = 0
    // Where nothing more ends, it is not looked for at every beginning.
    var hasEnd = true
    while at < bytes.count {
      let byte = bytes[at]
      if byte == UInt8(ascii: "<"), hasEnd, let tag = tag(bytes, at, &hasEnd) {
        if blocks.contains(tag.name) { out.append(0x20) }
        let isOpen = bytes[at + 1] != UInt8(ascii: "/")
        at = isOpen && silent.contains(tag.name) ? silence(bytes, tag) : tag.end
      } else if byte == UInt8(ascii: "&"), let (text, end) = reference(bytes, at) {
        out += text.utf8
        at = end
      } else {
        out.append(byte)
        at += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// A tag or a comment that begins at a `<`; nil for a `<` of the text.
  private static func tag(
    _ bytes: [UInt8], _ start: Int, _ hasEnd: inout Bool
  ) -> (name: String, end: Int)? {
    var at = start + 1
    if bytes[at...].starts(with: "!--".utf8) {
      // One without an end hides all that follows, as in a browser.
      return ("", find("-->", bytes, at + 3) ?? bytes.count)
    }
    guard at < bytes.count else { return nil }
    if bytes[at] == UInt8(ascii: "/") { at += 1 }
    guard at < bytes.count,
      bytes[at] | 0x20 >= 0x61 && bytes[at] | 0x20 <= 0x7a
        || bytes[at] == UInt8(ascii: "!") || bytes[at] == UInt8(ascii: "?")
    else { return nil }
    let name = bytes[at...].prefix(16).prefix { $0.isAlphanumeric }
    guard let close = bytes[at...].firstIndex(of: UInt8(ascii: ">")) else {
      hasEnd = false
      return nil
    }
    return (String(decoding: name, as: UTF8.self).lowercased(), close + 1)
  }

  /// The end tag of an element without text, or the end of all.
  private static func silence(_ bytes: [UInt8], _ tag: (name: String, end: Int)) -> Int {
    find("</\(tag.name)", bytes, tag.end).map { $0 - tag.name.utf8.count - 2 } ?? bytes.count
  }

  /// Where the first of a text ends, in any case of its letters.
  private static func find(_ text: String, _ bytes: [UInt8], _ start: Int) -> Int? {
    let wanted = Array(text.utf8)
    var at = start
    while at + wanted.count <= bytes.count {
      if bytes[at] == wanted[0],
        zip(bytes[at...], wanted).allSatisfy({ $0 == $1 || $1.isAlphanumeric && $0 | 0x20 == $1 })
      {
        return at + wanted.count
      }
      at += 1
    }
    return nil
  }

  private static let usual = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    "nbsp": " ", "ensp": " ", "emsp": " ", "thinsp": " ", "shy": "", "zwnj": "", "zwj": "",
    "lrm": "", "rlm": "", "ZeroWidthSpace": "",
  ]

  /// A reference to a character that begins at a `&`.
  private static func reference(_ bytes: [UInt8], _ start: Int) -> (text: String, end: Int)? {
    let code = bytes[(start + 1)...].prefix(40)
    guard let close = code.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let word = String(decoding: code[..<close], as: UTF8.self)
    if !word.hasPrefix("#") {
      return (usual[word] ?? characters(named: word)).map { ($0, close + 1) }
    }
    let isHex = word.hasPrefix("#x") || word.hasPrefix("#X")
    guard let number = UInt32(word.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10),
      number > 0, let scalar = Unicode.Scalar(number)
    else { return nil }
    return (String(scalar), close + 1)
  }
}

enum PlainText {
  static func line(_ text: String) -> String {
    var out = ""
    var isGap = false
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        isGap = true
        continue
      }
      if isGap, !out.isEmpty { out.unicodeScalars.append(" ") }
      isGap = false
      out.unicodeScalars.append(scalar)
    }
    return out
  }

  /// The beginning, with a blank for each NUL, which would end it for others.
  static func kept(_ text: String, most: Int) -> String {
    var out = ""
    out.unicodeScalars.append(
      contentsOf: text.unicodeScalars.prefix(most).lazy.map { $0.value == 0 ? " " : $0 })
    return out
  }

  /// The beginning, with an ellipsis for what is left out.
  static func beginning(_ text: String, most: Int) -> String {
    let scalars = text.unicodeScalars
    guard let end = scalars.index(scalars.startIndex, offsetBy: most, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return String(scalars.prefix(most - 1)) + "…"
  }
}
