import Core

/// Words as a shell reads them: what is shown is what would run, to the byte, and could be
/// pasted. What a person cannot be shown is spelled with the escapes of `$'...'`
/// (POSIX.1-2024, 2.2.4), which bash, zsh and ksh know.
public enum ShellText {
  /// So many blanks in a row could push what follows to where something else is looked for.
  private static let mostBlanks = 8
  private static let reserved: Set<String> = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for",
    "in", "function", "select", "time", "coproc",
  ]

  /// A command line of these words.
  public static func line(_ words: [String]) -> String {
    words.enumerated().map { index, text in
      // A bare `if` or `A=b` would not be the name of a program.
      let isBare = index > 0 || !(reserved.contains(text) || text.utf8.contains(0x3d))
      return word(text, mayBeBare: isBare)
    }.joined(separator: " ")
  }

  /// One word.
  ///
  /// - Parameter mayBeBare: whether it may stand without quotes when it has nothing to quote.
  public static func word(_ text: String, mayBeBare: Bool = true) -> String {
    if mayBeBare, !text.isEmpty, text.utf8.allSatisfy(isBare) { return text }
    if !isPlain(text) { return "$'" + escaped(text) + "'" }
    return text.shellQuoted
  }

  /// Whether a person sees all of a text as it is.
  public static func isPlain(_ text: String) -> Bool {
    var blanks = 0
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if !isShown { return false }
      blanks = scalar.properties.isWhitespace ? blanks + 1 : 0
      if blanks >= mostBlanks { return false }
    }
    return true
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "_@%+=:,./-".utf8.contains(byte)
  }

  private static func escaped(_ text: String) -> String {
    var out = ""
    var blanks = 0
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      blanks = scalar.properties.isWhitespace ? blanks + 1 : 0
      switch scalar {
      case "\\": out += "\\\\"
      case "'": out += "\\'"
      case "\n": out += "\\n"
      case "\t": out += "\\t"
      case "\r": out += "\\r"
      case "\u{1b}": out += "\\e"
      case _ where isShown && blanks < mostBlanks: out.unicodeScalars.append(scalar)
      // Three digits: whatever follows is not one of them.
      default: for byte in UTF8.encode(scalar)! { out += "\\" + byte.digits(3, radix: 8) }
      }
    }
    return out
  }
}
