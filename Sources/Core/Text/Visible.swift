/// Makes text from outside safe to show: what a terminal would obey, and what a
/// person could not see, becomes text that can be read.
///
/// Escaped are C0 (but see `line`), DEL, C1, the bidirectional controls, the line
/// and paragraph separators, what shows as nothing at all (soft hyphens, zero
/// width spaces, fillers, tags, joiners and selectors that have nothing to join or
/// to select), U+FFFE and U+FFFF, which no text has, and heaps of marks:
/// `VisibleScalars` decides. A byte of a file's name that is not UTF-8 is shown as
/// `\xe9`; other invalid UTF-8 became U+FFFD when the `String` was made and is shown
/// as that.
public enum Visible {
  /// One line of text: every control is escaped, tabs and newlines too, as
  /// `\n`, `\t`, `\e`, `\x07` or `\u{202e}`.
  public static func line(_ text: String) -> String { shown(text, else: escape) }

  /// The same with a question mark for each of them, as scripts show what they run into.
  public static func masked(_ text: String) -> String { shown(text) { _ in "?" } }

  private static func shown(_ text: String, else other: (Unicode.Scalar) -> String) -> String {
    if isPlain(text) { return text }
    var out = ""
    out.reserveCapacity(text.utf8.count + 16)
    var scalars = VisibleScalars(text)
    while let (scalar, isShown) = scalars.next() {
      if isShown { out.unicodeScalars.append(scalar) } else { out += other(scalar) }
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
    case 0xfeff, 0xffa0, 0xfff0...0xfffb, 0xfffe...0xffff: true
    case 0x13430...0x1343f, 0x1bca0...0x1bca3, 0x1d173...0x1d17a: true
    case 0xe0000...0xe00ff, 0xe01f0...0xe0fff: true
    case 0xf0000...: FileName.byte(scalar) != nil
    default: false
    }
  }

  /// The visible form of one scalar.
  public static func escape(_ scalar: Unicode.Scalar) -> String {
    if let byte = FileName.byte(scalar) { return "\\x" + byte.digits(2, radix: 16) }
    return switch scalar.value {
    case 0x09: "\\t"
    case 0x0a: "\\n"
    case 0x0d: "\\r"
    case 0x1b: "\\e"
    case 0...0x9f: "\\x" + scalar.value.digits(2, radix: 16)
    default: "\\u{" + scalar.value.digits(4, radix: 16) + "}"
    }
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 &- 0x20 < 0x5f }
  }
}

/// Reads a text scalar by scalar and decides of each, by what stands around it,
/// whether a person can be shown it as it is. Everything that shows text from
/// outside asks this one type: messages, rows, tables, panels, bars.
///
/// Beside what is never shown (see `Visible.mustEscape`) these are not:
/// - a mark without a letter to sit on, and what is more than `mostMarks` on one;
/// - a joiner (U+200C, U+200D) but between two pictures, or two letters of a
///   script that joins its letters;
/// - a variation selector but right behind a picture or an ideograph that has
///   variants.
public struct VisibleScalars: IteratorProtocol {
  /// The marks that may sit on one letter: no language needs as many, and a heap
  /// of them would cover the lines around it.
  public static let mostMarks = 8

  /// Joiners that one picture may have (RGI emoji sequences have three); with
  /// more of them a whole crowd would count as one picture of two cells.
  public static let mostJoiners = 4

  private var rest: String.UnicodeScalarView.Iterator
  private var ahead: Unicode.Scalar?
  /// What is shown right before; nil where a mark would have nothing to sit on.
  private var last: Unicode.Scalar?
  private var marks = 0
  private var joiners = 0

  public init(_ text: String) {
    rest = text.unicodeScalars.makeIterator()
    ahead = rest.next()
  }

  /// The next scalar, and whether it can be shown as it is.
  public mutating func next() -> (scalar: Unicode.Scalar, isShown: Bool)? {
    guard let scalar = ahead else { return nil }
    ahead = rest.next()
    let isShown = shows(scalar)
    last = isShown && scalar != " " ? scalar : nil
    return (scalar, isShown)
  }

  private mutating func shows(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7e:
      marks = 0
      return true
    case 0x200c, 0x200d: return joins(scalar)
    case 0xfe00...0xfe0f, 0xe0100...0xe01ef, 0x180b...0x180d, 0x180f: return varies(scalar)
    case _ where Visible.mustEscape(scalar): return false
    case _ where Self.isMark(scalar):
      marks += 1
      return last != nil && marks <= Self.mostMarks
    default:
      marks = 0
      if last != "\u{200d}", !Self.isModifier(scalar) { joiners = 0 }
      return true
    }
  }

  private mutating func joins(_ joiner: Unicode.Scalar) -> Bool {
    guard let last, let ahead else { return false }
    if Self.isJoinedScript(last) { return Self.isJoinedScript(ahead) }
    guard joiner == "\u{200d}", last == "\u{fe0f}" || Self.isPicture(last),
      Self.isPicture(ahead), !Self.isModifier(ahead)
    else { return false }
    joiners += 1
    return joiners <= Self.mostJoiners
  }

  private func varies(_ selector: Unicode.Scalar) -> Bool {
    guard let last else { return false }
    switch selector.value {
    case 0xfe0e, 0xfe0f:
      let isKey = ahead == "\u{20e3}" && last.properties.isEmoji
      return isKey || Self.isPicture(last)
    case 0x180b...0x180f: return (0x1820...0x18aa).contains(last.value)
    default: return last.properties.isIdeographic
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Of the signs, only those from U+20D0 on are marks.
    case ..<0x300, 0x2000..<0x20d0, 0x2100..<0x2c00, 0x3400...0x9fff, 0xac00...0xd7a3:
      return false
    // Hangul vowels and final consonants take no cell of their own.
    case 0x1160...0x11ff, 0xd7b0...0xd7ff: return true
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return true
    default: return false
    }
  }

  /// Whether a scalar can be a part of a joined picture: no flag letter, no digit.
  private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x7f && scalar.properties.isEmoji && !(0x1f1e6...0x1f1ff).contains(scalar.value)
  }

  private static func isModifier(_ scalar: Unicode.Scalar) -> Bool {
    (0x1f3fb...0x1f3ff).contains(scalar.value)
  }

  /// A letter or mark of the scripts in which joiners make a difference to be
  /// seen: those of the Near East, India, South East Asia and Mongolia.
  private static func isJoinedScript(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x600...0x109f, 0x1700...0x1cff, 0xa840...0xa95f, 0xa980...0xabff, 0xfb50...0xfdff,
      0xfe70...0xfefc, 0x10a00...0x11fff, 0x1e900...0x1e95f:
      break
    default: return false
    }
    switch scalar.properties.generalCategory {
    case .otherLetter, .modifierLetter, .lowercaseLetter, .uppercaseLetter, .nonspacingMark,
      .spacingMark:
      return true
    default: return false
    }
  }
}
