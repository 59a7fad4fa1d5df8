/// How many cells of a terminal text takes.
///
/// The unit is what a terminal draws as one, see `CellScan`: a flag, a family
/// joined by ZWJ and a letter with its accents each count once. The wide scalars
/// are those of UAX #11; ambiguous ones are narrow.
public enum CellWidth {
  /// The cells of a text that holds no controls (see `Plain`); controls count 0.
  public static func of(_ text: String) -> Int {
    of(text[...])
  }

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
    if isASCII(text) { return text.utf8.count }
    var cells = 0
    for scalar in text.unicodeScalars {
      guard isSimple(scalar.value) else { return nil }
      cells += 1
    }
    return cells
  }

  /// Whether every byte is a letter or sign of ASCII.
  static func isASCII(_ text: Substring) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { bytes in
      var isPlain = true
      for byte in bytes { isPlain = isPlain && byte &- 0x20 < 0x5f }
      return isPlain
    } ?? text.utf8.allSatisfy { $0 &- 0x20 < 0x5f }
  }

  /// ASCII, Latin, and the signs that lines, bars and marks are drawn with.
  private static func isSimple(_ value: UInt32) -> Bool {
    switch value {
    case 0x20...0x7e, 0xa1...0xac, 0xae...0x2ff, 0x2010...0x2027, 0x2190...0x21ff, 0x2500...0x25fc:
      true
    default: false
    }
  }

  /// The cells of a scalar on its own: 0, 1 or 2.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x20...0x7e, 0xa0...0x2ff: return 1
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
