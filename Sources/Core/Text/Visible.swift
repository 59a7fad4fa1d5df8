/// Makes text from outside safe to show: what a terminal would obey becomes
/// text that a person can read.
///
/// Escaped are C0 (but see `line`), DEL, C1, the bidirectional controls
/// (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), the line and
/// paragraph separators, and what shows as nothing at all: U+2060 to U+206F, the
/// byte order mark, interlinear annotation (U+FFF9 to U+FFFB) and tag characters. Invalid UTF-8 becomes U+FFFD when the
/// `String` is made and is shown as that.
public enum Visible {
  /// One line of text: every control is escaped, tabs and newlines too, as
  /// `\n`, `\t`, `\e`, `\x07` or `\u{202e}`.
  public static func line(_ text: String) -> String {
    if !text.unicodeScalars.contains(where: mustEscape) { return text }
    var out = ""
    out.reserveCapacity(text.utf8.count + 16)
    for scalar in text.unicodeScalars {
      if mustEscape(scalar) { out += escape(scalar) } else { out.unicodeScalars.append(scalar) }
    }
    return out
  }

  /// Whether a terminal or a reader could be misled by this scalar.
  public static func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7e: false
    case 0...0x1f, 0x7f...0x9f: true
    case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff: true
    case 0xfff9...0xfffb, 0xe0000...0xe007f: true
    default: false
    }
  }

  /// The visible form of one scalar.
  public static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    case 0x09: "\\t"
    case 0x0a: "\\n"
    case 0x0d: "\\r"
    case 0x1b: "\\e"
    case 0...0xff: "\\x" + hex(scalar.value, width: 2)
    default: "\\u{" + hex(scalar.value, width: 4) + "}"
    }
  }

  private static func hex(_ value: UInt32, width: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
