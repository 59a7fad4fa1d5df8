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
      self.text = text
      self.isFull = isFull
      isContested = false
    }

    /// A line in a window of that many columns.
    ///
    /// - Parameters:
    ///   - line: cut at `width`.
    ///   - width: the window's columns.
    ///   - depth: the colours that the terminal knows.
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
