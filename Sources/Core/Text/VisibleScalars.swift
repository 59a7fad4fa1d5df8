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

  /// - Parameter text: any text.
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

  /// Whether a joiner has something to join on either side.
  private mutating func joins(_ joiner: Unicode.Scalar) -> Bool {
    guard let last, let ahead else { return false }
    if Self.isJoinedScript(last) { return Self.isJoinedScript(ahead) }
    guard joiner == "\u{200d}", last == "\u{fe0f}" || Self.isPicture(last),
      Self.isPicture(ahead), !Self.isModifier(ahead)
    else { return false }
    joiners += 1
    return joiners <= Self.mostJoiners
  }

  /// Whether a variation selector stands behind what it can select a form of.
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
    case ..<0x300, 0x3400...0x9fff, 0xac00...0xd7a3: return false
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
