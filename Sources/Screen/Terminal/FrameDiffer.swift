/// Turns frames into the bytes that bring the screen from one to the next:
/// only rows that changed, each in its place, inside one synchronised update.
///
/// Nothing is ever cleared before it is drawn, so nothing flickers on a terminal
/// that does not know synchronised updates either.
public struct FrameDiffer: Sendable {
  /// One row of the screen.
  public struct Row: Equatable, Sendable {
    /// The row's bytes, with their colours, without a line end.
    public let text: String
    /// Whether it reaches the last column.
    public let isFull: Bool
    /// Whether a terminal may leave out cells of it.
    let isContested: Bool

    /// - Parameters:
    ///   - text: the row's bytes.
    ///   - isFull: whether it reaches the last column.
    public init(_ text: String, isFull: Bool) {
      (self.text, self.isFull) = (text, isFull)
      isContested = false
    }

    /// A line in a window of that many columns.
    ///
    /// - Parameter line: cut at `width`.
    public init(_ line: Line, width: Int, depth: ColourDepth) {
      let cut = line.cut(to: width)
      (text, isContested) = PlacedText.render(cut, depth: depth)
      isFull = cut.cells >= width
    }
  }

  private var shown: [Row]?

  public init() {}

  /// Forgets what is on the screen: the next frame is drawn whole. After a
  /// change of size, a stop, or anything else that wrote there.
  public mutating func forget() { shown = nil }

  /// The bytes that show this frame; empty when it is on the screen already.
  ///
  /// - Parameter rows: one for each row of the window.
  public mutating func update(to rows: [Row]) -> String {
    var out = ""
    let whole = shown?.count != rows.count
    for (index, row) in rows.enumerated() where whole || shown?[index] != row {
      out += TerminalCodes.row(index)
      // Erasing behind a full row would take its last cell on terminals that
      // hold the cursor there.
      if row.isFull || row.isContested { out += TerminalCodes.eraseRight }
      out += row.text
      if !row.isFull { out += TerminalCodes.eraseRight }
    }
    shown = rows
    return out.isEmpty ? "" : TerminalCodes.beginUpdate + out + TerminalCodes.endUpdate
  }
}

/// Text for a place on the screen, that stays in its columns on terminals which
/// count the cells of some clusters in another way.
///
/// Terminals agree on letters, accents and single wide characters. They do not
/// on families joined by ZWJ, flags, skin tones, U+FE0F, and the spacing marks
/// of Indic scripts; behind each of these the cursor is put where it belongs
/// (CHA, ECMA-48 8.3.9), so that at worst that cluster looks odd.
enum PlacedText {
  /// Its bytes, and whether it holds such a cluster.
  static func render(_ line: Line, depth: ColourDepth) -> (text: String, isContested: Bool) {
    var out = ""
    var column = 0
    var isContested = false
    for span in line.spans {
      if !Self.mayBeContested(span.text) {
        column += span.cells
        out += span.style.apply(to: span.text, depth: depth)
        continue
      }
      var text = ""
      var start = span.text.startIndex
      for unit in CellScan(span.text[...]) {
        let piece = span.text[start..<unit.end]
        start = unit.end
        column += unit.cells
        text += piece
        if Self.isContested(piece) {
          isContested = true
          text += TerminalCodes.column(column)
        }
      }
      out += span.style.apply(to: text, depth: depth)
    }
    return (out, isContested)
  }

  /// Whether a text holds anything but letters of Europe, signs, lines, and wide
  /// characters of East Asia: those never make a cluster that is contested.
  private static func mayBeContested(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.value {
      case ..<0x300, 0x370..<0x590, 0x2010..<0x2c00, 0x3000..<0xa000, 0xac00..<0xd7a4: false
      default: true
      }
    }
  }

  /// Whether terminals differ on the cells of a unit of `CellScan`.
  static func isContested(_ unit: Substring) -> Bool {
    let scalars = unit.unicodeScalars
    guard let first = scalars.first else { return false }
    // What some terminals draw over the unit before it.
    switch first.properties.generalCategory {
    case .spacingMark, .format: return true
    case .modifierSymbol where first.value > 0x1f000: return true
    default: if scalars.index(after: scalars.startIndex) == scalars.endIndex { return false }
    }
    if first.value < 0x300 && scalars.dropFirst().allSatisfy({ (0x300...0x36f).contains($0.value) })
    {
      return false
    }
    return scalars.dropFirst().contains { scalar in
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: scalar.value == 0xfe0f
      default: true
      }
    }
  }
}
