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
