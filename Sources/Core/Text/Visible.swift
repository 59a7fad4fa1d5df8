/// Makes text from outside safe to show: what a terminal would obey, and what a
/// person could not see, becomes text that can be read.
///
/// Escaped are C0 (but see `line`), DEL, C1, the bidirectional controls, the line
/// and paragraph separators, what shows as nothing at all (soft hyphens, zero
/// width spaces, fillers, tags, joiners and selectors that have nothing to join or
/// to select) and heaps of marks: `VisibleScalars` decides. A byte of a file's name
/// that is not UTF-8 is shown as `\xe9`; other invalid UTF-8 became U+FFFD when the
/// `String` was made and is shown as that.
public enum Visible {
  /// One line of text: every control is escaped, tabs and newlines too, as
  /// `\n`, `\t`, `\e`, `\x07` or `\u{202e}`.
  public static func line(_ text: String) -> String {
    if isPlain(text) { return text }
    var out = ""
    out.reserveCapacity(text.utf8.count + 16)
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if isShown { out.unicodeScalars.append(scalar) } else { out += escape(scalar) }
    }
    return out
  }

  /// The scalars of a text that `line` escapes.
  public static func escaped(in text: String) -> Set<Unicode.Scalar> {
    var found: Set<Unicode.Scalar> = []
    if isPlain(text) { return found }
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if !isShown { found.insert(scalar) }
    }
    return found
  }

  /// Whether a scalar is never shown, whatever stands around it: a terminal would
  /// obey it, or a reader would not see it.
  public static func mustEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7e: false
    case 0...0x1f, 0x7f...0x9f: true
    case ..<0xad, 0xae..<0x34f: false
    case 0xad, 0x34f, 0x61c, 0x115f...0x1160, 0x17b4...0x17b5, 0x180e: true
    case 0x200b, 0x200e...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0x3164: true
    case 0xfeff, 0xffa0, 0xfff0...0xfffb: true
    case 0x13430...0x1343f, 0x1bca0...0x1bca3, 0x1d173...0x1d17a: true
    case 0xe0000...0xe00ff, 0xe01f0...0xe0fff: true
    case 0xf0000...: FileName.byte(scalar) != nil
    default: false
    }
  }

  /// The visible form of one scalar.
  public static func escape(_ scalar: Unicode.Scalar) -> String {
    if let byte = FileName.byte(scalar) { return "\\x" + hex(UInt32(byte), width: 2) }
    return switch scalar.value {
    case 0x09: "\\t"
    case 0x0a: "\\n"
    case 0x0d: "\\r"
    case 0x1b: "\\e"
    case 0...0x9f: "\\x" + hex(scalar.value, width: 2)
    default: "\\u{" + hex(scalar.value, width: 4) + "}"
    }
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 &- 0x20 < 0x5f }
  }

  private static func hex(_ value: UInt32, width: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
