/// How many cells of a terminal text takes.
///
/// The unit is what a terminal draws as one, see `CellScan`: a flag, a family
/// joined by ZWJ and a letter with its accents each count once. The wide scalars
/// are those of UAX #11; ambiguous ones are narrow.
public enum CellWidth {
  /// The cells of a text that holds no controls (see `Plain`); controls count 0.
  public static func of(_ text: String) -> Int { of(text[...]) }

  /// The cells of a part of a text, as above.
  static func of(_ text: Substring) -> Int {
    if let cells = simple(text) { return cells }
    var cells = 0
    for unit in CellScan(text) { cells += unit.cells }
    return cells
  }

  /// The cells of a text that needs no look at its clusters, nil for others:
  /// every scalar is one cell wide and joins no other.
  static func simple(_ text: Substring) -> Int? {
    if isASCII(text.utf8) { return text.utf8.count }
    var cells = 0
    for scalar in text.unicodeScalars {
      guard isSimple(scalar.value) else { return nil }
      cells += 1
    }
    return cells
  }

  static func isASCII(_ text: Substring.UTF8View) -> Bool {
    text.withContiguousStorageIfAvailable { bytes in
      var isPlain = true
      for byte in bytes { isPlain = isPlain && byte &- 0x20 < 0x5f }
      return isPlain
    } ?? text.allSatisfy { $0 &- 0x20 < 0x5f }
  }

  /// ASCII, Latin, and the signs that texts, lines, bars and marks are drawn with:
  /// one cell each, and none joins another.
  @inline(__always)
  fileprivate static func isSimple(_ value: UInt32) -> Bool {
    switch value {
    case 0x20...0x7e, 0xa1...0xac, 0xae...0x2ff, 0x2010...0x2027, 0x2190...0x21ff, 0x2500...0x25fc:
      true
    default: false
    }
  }

  /// The cells of a scalar on its own: 0, 1 or 2.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    if isSimple(scalar.value) { return 1 }
    switch scalar.value {
    case 0xa0...0x2ff: return 1
    case 0..<0xa0: return 0
    // Hangul vowels and final consonants join the syllable before them.
    case 0x1160...0x11ff, 0xd7b0...0xd7ff: return 0
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .lineSeparator, .paragraphSeparator:
      return 0
    case .format:
      // Signs that stand before Arabic, Syriac and Kaithi numbers are drawn.
      return isPrependedSign(scalar.value) ? 1 : 0
    default:
      return WideRanges.contains(scalar.value) ? 2 : 1
    }
  }

  private static func isPrependedSign(_ value: UInt32) -> Bool {
    switch value {
    case 0x600...0x605, 0x6dd, 0x70f, 0x890...0x891, 0x8e2, 0x110bd, 0x110cd: true
    default: false
    }
  }
}

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

  init(_ text: Substring) {
    scalars = text.unicodeScalars
    position = text.startIndex
  }

  /// The next unit: where it ends, and the cells it takes.
  mutating func next() -> (end: String.Index, cells: Int)? {
    guard position < scalars.endIndex else { return nil }
    let first = scalars[position]
    scalars.formIndex(after: &position)
    if CellWidth.isSimple(first.value),
      position == scalars.endIndex || CellWidth.isSimple(scalars[position].value)
    {
      return (position, 1)
    }
    var cells = CellWidth.of(first)
    var last = first
    var isConjunct = false
    if Self.isFlagLetter(first), position < scalars.endIndex, Self.isFlagLetter(scalars[position]) {
      scalars.formIndex(after: &position)
    }
    while position < scalars.endIndex {
      let scalar = scalars[position]
      // What joins nothing by itself needs no look into the tables of Unicode.
      if CellWidth.isSimple(scalar.value), !isConjunct, last != "\u{200d}" { break }
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

/// The scalars that take two cells, from Unicode 16's EastAsianWidth.txt (W and
/// F): first and last, ascending. Code points not yet assigned count as wide
/// inside the ideographic planes and the emoji blocks. Combining marks inside
/// a range are told apart by their category before this table is asked.
enum WideRanges {
  private static let table: [(first: UInt32, last: UInt32)] = [
    (0x1100, 0x115f), (0x231a, 0x231b), (0x2329, 0x232a), (0x23e9, 0x23ec), (0x23f0, 0x23f0),
    (0x23f3, 0x23f3), (0x25fd, 0x25fe), (0x2614, 0x2615), (0x2630, 0x2637), (0x2648, 0x2653),
    (0x267f, 0x267f), (0x268a, 0x268f), (0x2693, 0x2693), (0x26a1, 0x26a1), (0x26aa, 0x26ab),
    (0x26bd, 0x26be), (0x26c4, 0x26c5), (0x26ce, 0x26ce), (0x26d4, 0x26d4), (0x26ea, 0x26ea),
    (0x26f2, 0x26f3), (0x26f5, 0x26f5), (0x26fa, 0x26fa), (0x26fd, 0x26fd), (0x2705, 0x2705),
    (0x270a, 0x270b), (0x2728, 0x2728), (0x274c, 0x274c), (0x274e, 0x274e), (0x2753, 0x2755),
    (0x2757, 0x2757), (0x2795, 0x2797), (0x27b0, 0x27b0), (0x27bf, 0x27bf), (0x2b1b, 0x2b1c),
    (0x2b50, 0x2b50), (0x2b55, 0x2b55), (0x2e80, 0x303e), (0x3041, 0x3247), (0x3250, 0xa4cf),
    (0xa960, 0xa97c), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfe10, 0xfe19), (0xfe30, 0xfe6b),
    (0xff01, 0xff60), (0xffe0, 0xffe6), (0x16fe0, 0x18d08), (0x1aff0, 0x1b2fb),
    (0x1d300, 0x1d356), (0x1d360, 0x1d376), (0x1f004, 0x1f004), (0x1f0cf, 0x1f0cf),
    (0x1f18e, 0x1f18e), (0x1f191, 0x1f19a), (0x1f1e6, 0x1f202), (0x1f210, 0x1f265),
    (0x1f300, 0x1f320), (0x1f32d, 0x1f335), (0x1f337, 0x1f37c), (0x1f37e, 0x1f393),
    (0x1f3a0, 0x1f3ca), (0x1f3cf, 0x1f3d3), (0x1f3e0, 0x1f3f0), (0x1f3f4, 0x1f3f4),
    (0x1f3f8, 0x1f43e), (0x1f440, 0x1f440), (0x1f442, 0x1f4fc), (0x1f4ff, 0x1f53d),
    (0x1f54b, 0x1f54e), (0x1f550, 0x1f567), (0x1f57a, 0x1f57a), (0x1f595, 0x1f596),
    (0x1f5a4, 0x1f5a4), (0x1f5fb, 0x1f64f), (0x1f680, 0x1f6c5), (0x1f6cc, 0x1f6cc),
    (0x1f6d0, 0x1f6d2), (0x1f6d5, 0x1f6df), (0x1f6eb, 0x1f6ec), (0x1f6f4, 0x1f6fc),
    (0x1f7e0, 0x1f7eb), (0x1f7f0, 0x1f7f0), (0x1f90c, 0x1f93a), (0x1f93c, 0x1f945),
    (0x1f947, 0x1f9ff), (0x1fa70, 0x1faff), (0x20000, 0x2fffd), (0x30000, 0x3fffd),
  ]

  static func contains(_ scalar: UInt32) -> Bool {
    guard scalar >= 0x1100 else { return false }
    var low = 0
    var high = table.count - 1
    while low <= high {
      let middle = (low + high) / 2
      if scalar < table[middle].first {
        high = middle - 1
      } else if scalar > table[middle].last {
        low = middle + 1
      } else {
        return true
      }
    }
    return false
  }
}
