import Core

/// Text from outside, made fit for one line of a terminal.
public enum Plain {
  /// Stands for a line break inside the text.
  public static let lineBreak = "↵"

  /// Marks that may follow one letter (UAX #15, section 13: no language needs
  /// more); with thousands of them a letter would cover the lines around it.
  static let mostMarks = 30

  /// Joiners that one picture may have (RGI emoji sequences have three); with
  /// more of them a whole crowd would count as one picture of two cells.
  static let mostJoiners = 4

  /// One line: line breaks become ` ↵ `, tabs and runs of blanks one space, ends
  /// are trimmed, and every other control is escaped by `Visible`.
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
    var cluster = Cluster()
    for scalar in text.unicodeScalars {
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
      append(scalar, to: &out, &cluster)
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

  /// The lines of a text, each with its controls escaped; tabs become two
  /// spaces, other blanks stay. CR LF, LF, CR and U+2028 end a line, and line
  /// ends after the last text are dropped.
  public static func lines(_ text: String) -> [String] {
    if CellWidth.isASCII(text[...]) { return [text] }
    var lines: [String] = []
    var line = ""
    var wasReturn = false
    var cluster = Cluster()
    for scalar in text.unicodeScalars {
      let follows = wasReturn && scalar == "\n"
      wasReturn = scalar == "\r"
      switch scalar {
      case "\n" where follows: continue
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(line)
        line = ""
      case "\t": line += "  "
      default: append(scalar, to: &line, &cluster)
      }
    }
    lines.append(line)
    while lines.count > 1, lines.last?.allSatisfy({ $0 == " " }) == true { lines.removeLast() }
    return lines
  }

  /// What was written of the letter or picture at the end of a text.
  private struct Cluster {
    var marks = 0
    private var joiners = 0
    private var isJoined = false

    /// Takes one scalar more.
    ///
    /// - Returns: whether there are still as many marks and joiners as can be meant.
    mutating func takes(_ scalar: Unicode.Scalar) -> Bool {
      guard scalar.value >= 0x300, CellWidth.of(scalar) == 0 else {
        marks = 0
        if !isJoined, !(0x1f3fb...0x1f3ff).contains(scalar.value) { joiners = 0 }
        isJoined = false
        return true
      }
      marks += 1
      isJoined = scalar.value == 0x200d
      if isJoined { joiners += 1 }
      return marks <= Plain.mostMarks && (!isJoined || joiners <= Plain.mostJoiners)
    }
  }

  private static func append(
    _ scalar: Unicode.Scalar, to text: inout String, _ cluster: inout Cluster
  ) {
    let isMeant = cluster.takes(scalar)
    if Visible.mustEscape(scalar) || !isMeant {
      text += Visible.escape(scalar)
    } else {
      // A mark without a letter would sit on whatever stands before the text.
      if text.isEmpty && cluster.marks > 0 { text += "\u{25cc}" }
      text.unicodeScalars.append(scalar)
    }
  }
}
