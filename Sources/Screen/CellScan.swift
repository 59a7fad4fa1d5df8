/// Walks over a text in units of 0 to 2 cells that are never cut: a letter with
/// what takes no cell of its own, a letter and the vowel or the consonant that its
/// script sets beside it, a flag, a picture with its shade, a joined picture.
///
/// These are the grapheme clusters of UAX #29 as far as those fit into two cells.
/// A longer one (some scripts join letters without end, and anything may be put
/// behind anything) is several units, as terminals draw it: so every step is
/// short, and no cluster is wider than it was counted.
struct CellScan: Sequence, IteratorProtocol {
  private let scalars: Substring.UnicodeScalarView
  private var position: String.Index

  /// - Parameter text: text without controls.
  init(_ text: Substring) {
    scalars = text.unicodeScalars
    position = text.startIndex
  }

  /// The next unit: where it ends, and the cells it takes.
  mutating func next() -> (end: String.Index, cells: Int)? {
    guard position < scalars.endIndex else { return nil }
    let first = scalars[position]
    var cells = CellWidth.of(first)
    var last = first
    var isConjunct = false
    scalars.formIndex(after: &position)
    if Self.isFlagLetter(first), position < scalars.endIndex, Self.isFlagLetter(scalars[position]) {
      scalars.formIndex(after: &position)
    }
    while position < scalars.endIndex {
      let scalar = scalars[position]
      let more = CellWidth.of(scalar)
      if more == 0 {
        if scalar == "\u{fe0f}", first.properties.isEmoji { cells = 2 }
        // A virama, also with a joiner behind it, joins the next consonant.
        isConjunct =
          scalar.properties.canonicalCombiningClass == .virama
          || isConjunct && (scalar == "\u{200c}" || scalar == "\u{200d}")
      } else if Self.isOnePicture(first, last, scalar) {
        cells = 2
      } else if cells + more <= 2, isConjunct || Self.isBeside(scalar) {
        cells += more
        isConjunct = false
      } else {
        break
      }
      last = scalar
      scalars.formIndex(after: &position)
    }
    return (position, cells)
  }

  private static func isFlagLetter(_ scalar: Unicode.Scalar) -> Bool {
    (0x1f1e6...0x1f1ff).contains(scalar.value)
  }

  /// Whether a picture goes on with a scalar that takes no cells beside it: a
  /// shade, or a joined one.
  private static func isOnePicture(
    _ first: Unicode.Scalar, _ last: Unicode.Scalar, _ next: Unicode.Scalar
  ) -> Bool {
    switch next.value {
    case 0x1f3fb...0x1f3ff: last.properties.isEmojiModifierBase
    default:
      last == "\u{200d}" && first.value > 0x7f && first.properties.isEmoji
        && next.properties.isEmoji
    }
  }

  /// Whether a scalar belongs to the letter before it, beside which it is drawn.
  private static func isBeside(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0xe33, 0xeb3, 0xff9e...0xff9f: true
    default: scalar.properties.generalCategory == .spacingMark
    }
  }
}
