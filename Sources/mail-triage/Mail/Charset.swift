import CLibc
import Core

/// The texts that bytes of a mail stand for: those of UTF-8, and by iconv(3) of all others.
struct Charset: Equatable {
  /// By which iconv(3) knows it; nil for UTF-8 and what is a part of it.
  private let name: String?

  private static let windows1252 = Charset(known: "WINDOWS-1252")

  private init(known name: String?) { self.name = name }

  /// Nil for one that is not known.
  init?(_ name: String) {
    let name = String(name.lowercased().prefix { $0 != "*" })
    if ["utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968"].contains(name) {
      self.name = nil
      return
    }
    // Anything else in it would be more than a name to iconv(3).
    guard name.utf8.allSatisfy({ $0.isAlphanumeric || "()+-.:_".utf8.contains($0) }) else {
      return nil
    }
    let known = Self.wider[name] ?? name
    guard !name.isEmpty, clibc_charset_is_known(known) != 0 else { return nil }
    self.name = known.uppercased()
  }

  /// Those that are written where a smaller one is named (Encoding standard of WHATWG, 4.2).
  private static let wider = [
    "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "iso_8859-1": "windows-1252",
    "latin1": "windows-1252", "latin-1": "windows-1252", "l1": "windows-1252",
    "iso-8859-9": "windows-1254", "latin5": "windows-1254", "tis-620": "windows-874",
    "iso-8859-11": "windows-874", "iso-8859-8-i": "iso-8859-8", "gb2312": "gb18030",
    "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030", "shift_jis": "cp932",
    "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "korean": "cp949", "x-mac-roman": "macintosh",
    "big5": "big5-hkscs",
  ]

  /// The text; what is ill-formed becomes U+FFFD, and NUL a space.
  func text(_ bytes: [UInt8]) -> String { PlainText.kept(decoded(bytes), most: .max) }

  private func decoded(_ bytes: [UInt8]) -> String {
    guard let name else { return String(decoding: bytes, as: UTF8.self) }
    return bytes.withUnsafeBytes { source in
      var length = 0
      let start = source.bindMemory(to: CChar.self).baseAddress
      guard let start, let text = clibc_charset_utf8(name, start, source.count, &length) else {
        return bytes.isEmpty ? "" : String(decoding: bytes, as: UTF8.self)
      }
      defer { free(text) }
      return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }
  }

  /// The text of bytes of which nothing is said: as UTF-8 if they are, else as Windows-1252.
  static func guess(_ bytes: [UInt8]) -> String {
    let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
    return (isUTF8 ? Charset(known: nil) : windows1252).text(bytes)
  }
}

/// The words of a header that are not ASCII, `=?utf-8?Q?caf=C3=A9?=` (RFC 2047).
enum EncodedWords {
  /// A header's text with its encoded words decoded, and the blanks between two of them
  /// left out. Those with a character set that is not known stay as they are.
  static func decode(_ header: String) -> String {
    let text = Array(header.utf8)
    var out = ""
    var plain: [UInt8] = []
    var word: (charset: Charset, bytes: [UInt8])?
    // Bytes of one character may stand in two words.
    func flush() {
      if let word { out += word.charset.text(word.bytes) }
      out += String(decoding: plain, as: UTF8.self)
      (word, plain) = (nil, [])
    }
    var at = 0
    while at < text.count {
      guard text[at] == UInt8(ascii: "="), let found = self.word(text, at) else {
        plain.append(text[at])
        at += 1
        continue
      }
      at = found.end
      if let last = word, plain.allSatisfy(\.isBlank) {
        plain = []
        if last.charset == found.charset {
          word = (last.charset, last.bytes + found.bytes)
          continue
        }
      }
      flush()
      word = (found.charset, found.bytes)
    }
    flush()
    return out
  }

  /// What is longer, without an end, is none, bytes: 75 are allowed.
  private static let mostOfWord = 2000

  private static func word(
    _ text: [UInt8], _ start: Int
  ) -> (charset: Charset, bytes: [UInt8], end: Int)? {
    let question = UInt8(ascii: "?")
    guard start + 1 < text.count, text[start + 1] == question else { return nil }
    // The names of character sets have 40 letters at most; a language may follow.
    let from = start + 2
    let most = min(text.count, from + 60)
    guard let middle = text[from..<most].firstIndex(of: question), middle + 2 < text.count,
      text[middle + 2] == question,
      let charset = Charset(String(decoding: text[from..<middle], as: UTF8.self))
    else { return nil }
    // There are programs that leave blanks in it.
    let code = text[(middle + 3)...].prefix(mostOfWord)
    guard let end = code.firstIndex(of: question), end + 1 < text.count,
      text[end + 1] == UInt8(ascii: "=")
    else { return nil }
    let bytes: [UInt8]
    switch text[middle + 1] | 0x20 {
    case UInt8(ascii: "q"): bytes = TransferCode.wordQ(code[..<end])
    case UInt8(ascii: "b"): bytes = TransferCode.base64(code[..<end])
    default: return nil
    }
    return (charset, bytes, end + 2)
  }
}

/// How bytes of a mail are written as letters (RFC 2045, section 6), read as far as it can be
/// made out: what is broken is passed over.
enum TransferCode {
  /// The bytes of base64. What is none of its letters is passed over; the first `=` ends it.
  static func base64(_ code: some Collection<UInt8>) -> [UInt8] {
    let end = UInt8(ascii: "=")
    var letters = code.prefix { $0 != end }.filter {
      $0.isAlphanumeric || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
    }
    if letters.count % 4 == 1 { letters.removeLast() }
    return letters.withUnsafeBytes { Base64.bytes(of: $0) }
      // Bits that belong to no byte stand at the end.
      ?? letters.dropLast(letters.count % 4).withUnsafeBytes { Base64.bytes(of: $0) } ?? []
  }

  /// The bytes of quoted-printable text.
  static func quotedPrintable(_ code: some Collection<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    let code = Array(code)
    var at = 0
    while at < code.count {
      let byte = code[at]
      at += 1
      guard byte == UInt8(ascii: "=") else {
        bytes.append(byte)
        continue
      }
      if at + 1 < code.count, let high = hex(code[at]), let low = hex(code[at + 1]) {
        bytes.append(high << 4 | low)
        at += 2
        continue
      }
      // Blanks may stand between the `=` and the end of the line that it takes away.
      var next = at
      while next < code.count, code[next].isBlank || code[next] == 13 { next += 1 }
      if next == code.count || code[next] == 10 { at = next + 1 } else { bytes.append(byte) }
    }
    return bytes
  }

  /// The bytes of the `Q` of an encoded word.
  static func wordQ(_ code: some Collection<UInt8>) -> [UInt8] {
    quotedPrintable(code.map { $0 == UInt8(ascii: "_") ? 0x20 : $0 })
  }

  private static func hex(_ letter: UInt8) -> UInt8? {
    switch letter {
    case 0x30...0x39: letter - 0x30
    case 0x41...0x46: letter - 0x41 + 10
    case 0x61...0x66: letter - 0x61 + 10
    default: nil
    }
  }
}

/// A value with parameters: `text/plain; charset="utf-8"` (RFC 2045, section 5.1).
struct ContentType {
  /// In lower case: `text/plain`, `attachment`.
  private(set) var value: String
  private var parameters: [String: String] = [:]

  init(_ field: String?) {
    var rest = Substring(field ?? "")
    let first = rest.prefix { $0 != ";" }
    value = first.trimmed.lowercased()
    rest = rest.dropFirst(first.count)
    while !rest.isEmpty, parameters.count < 32 {
      rest = rest.drop { $0 == ";" || $0.isWhitespace }
      let name = rest.prefix { $0 != "=" && $0 != ";" }
      rest = rest.dropFirst(name.count)
      guard rest.first == "=" else { continue }
      rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      let found = Self.argument(&rest)
      let key = name.trimmed.lowercased()
      if parameters[key] == nil { parameters[key] = found }
    }
  }

  subscript(name: String) -> String? { parameters[name] }

  /// Whether it is of the form `kind/form`; what is not is read as text (RFC 2045, section 5.2).
  var isWhole: Bool {
    let parts = value.split(separator: "/", omittingEmptySubsequences: false)
    let marks = Array("+-._!#$&^*".utf8)
    return parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.utf8.allSatisfy { $0.isAlphanumeric || marks.contains($0) }
      }
  }

  var asPlain: ContentType {
    var other = self
    other.value = value.hasPrefix("text/html") ? "text/html" : "text/plain"
    return other
  }

  var kind: Substring { value.prefix { $0 != "/" } }

  private static func argument(_ rest: inout Substring) -> String {
    guard rest.first == "\"" else {
      let word = rest.prefix { $0 != ";" }
      rest = rest.dropFirst(word.count)
      return word.trimmed
    }
    var text = ""
    var isEscaped = false
    rest = rest.dropFirst()
    while let next = rest.popFirst() {
      if isEscaped {
        isEscaped = false
      } else if next == "\\" {
        isEscaped = true
        continue
      } else if next == "\"" {
        break
      }
      text.append(next)
    }
    rest = rest.drop { $0 != ";" }
    return text
  }
}
