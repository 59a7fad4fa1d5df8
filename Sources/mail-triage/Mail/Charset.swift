/// The texts that bytes of a mail stand for.
///
/// Known are UTF-8, US-ASCII, ISO-8859-1 and Windows-1252, and their usual other names. As the
/// Encoding standard of WHATWG has it, ISO-8859-1 is read as Windows-1252, for so it is
/// written.
enum Charset {
  case utf8, windows1252

  /// - Parameter name: as in a mail, in any case, perhaps with the language behind a `*` (RFC 2231).
  /// - Returns: nil for one that is not known.
  init?(_ name: String) {
    switch name.lowercased().prefix(while: { $0 != "*" }) {
    case "utf-8", "utf8", "us-ascii", "ascii", "ansi_x3.4-1968": self = .utf8
    case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "windows-1252", "cp1252":
      self = .windows1252
    default: return nil
    }
  }

  /// The text; what is ill-formed becomes U+FFFD, and NUL a space.
  func text(_ bytes: [UInt8]) -> String {
    switch self {
    case .utf8: return PlainText.kept(String(decoding: bytes, as: UTF8.self), most: .max)
    case .windows1252:
      var text = ""
      text.unicodeScalars.append(contentsOf: bytes.lazy.map(Self.scalar))
      return PlainText.kept(text, most: .max)
    }
  }

  /// The text of bytes of which nothing is said: as UTF-8 if they are, else as Windows-1252.
  static func guess(_ bytes: [UInt8]) -> String {
    let isUTF8 = String(validating: bytes, as: UTF8.self) != nil
    return (isUTF8 ? Charset.utf8 : .windows1252).text(bytes)
  }

  private static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard (0x80...0x9f).contains(byte) else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(upper[Int(byte) - 0x80]) ?? Unicode.Scalar(byte)
  }

  /// What Windows-1252 has for 0x80 to 0x9f.
  private static let upper: [UInt32] = [
    0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x8d, 0x017d, 0x8f, 0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178,
  ]
}
