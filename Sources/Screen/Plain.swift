import Core

/// Text from outside, made fit for one line of a terminal.
public enum Plain {
  /// Stands for a line break inside the text.
  public static let lineBreak = "↵"

  /// One line: line breaks become ` ↵ `, tabs and runs of blanks one space, ends
  /// are trimmed, and all else that a person cannot be shown is escaped, see
  /// `Visible`.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - limit: about how many scalars are of use; the rest of a very long
  ///     text is not looked at.
  public static func line(_ text: String, limit: Int = .max) -> String {
    if text.utf8.count <= limit, isTidy(text) { return text }
    var out = ""
    var pendingSpace = false
    var pendingBreak = false
    var count = 0
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      switch scalar {
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        pendingBreak = true
        continue
      case " ", "\t":
        pendingSpace = true
        continue
      default: break
      }
      if !out.isEmpty && (pendingBreak || pendingSpace) {
        out += pendingBreak ? " \(lineBreak) " : " "
      }
      pendingBreak = false
      pendingSpace = false
      if isShown { out.unicodeScalars.append(scalar) } else { out += Visible.escape(scalar) }
      count += 1
      if count >= limit { break }
    }
    return out
  }

  /// Whether a text is ASCII that needs no change: no controls, no blank but
  /// single ones between others.
  private static func isTidy(_ text: String) -> Bool {
    var last: UInt8 = 0x20
    for byte in text.utf8 {
      if byte &- 0x20 >= 0x5f || byte == 0x20 && last == 0x20 { return false }
      last = byte
    }
    return last != 0x20 || text.isEmpty
  }

  /// The lines of a text, each escaped as `Visible` does; tabs become two
  /// spaces, other blanks stay. CR LF, LF, CR and U+2028 end a line, and line
  /// ends after the last text are dropped.
  public static func lines(_ text: String) -> [String] {
    if CellWidth.isASCII(text[...]) { return [text] }
    var lines: [String] = []
    var line = ""
    var wasReturn = false
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      let follows = wasReturn && scalar == "\n"
      wasReturn = scalar == "\r"
      switch scalar {
      case "\n" where follows: continue
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(line)
        line = ""
      case "\t": line += "  "
      default:
        if isShown { line.unicodeScalars.append(scalar) } else { line += Visible.escape(scalar) }
      }
    }
    lines.append(line)
    while lines.count > 1, lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
    return lines
  }
}
