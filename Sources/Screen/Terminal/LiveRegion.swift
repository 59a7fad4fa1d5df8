public import Core

/// The last lines that a command has written to a terminal, which it draws anew in place,
/// below lines that stay: the screen is not taken over, and what has ended scrolls away
/// as any output does.
///
/// The cursor waits behind the last of the lines. Each change is one synchronised update;
/// nothing is cleared before it is drawn, so nothing flickers on other terminals either.
public struct LiveRegion: Sendable {
  private var rows: [FrameDiffer.Row] = []
  private var cells: [Int] = []
  private var columns = 0

  /// Nothing is drawn.
  public init() {}

  /// Whether anything is drawn in place.
  public var isEmpty: Bool { rows.isEmpty }

  /// The bytes that write lines which stay, and the live ones below them; empty when
  /// nothing is to change.
  ///
  /// - Parameters:
  ///   - settled: lines that are done with; longer ones go on in the next row.
  ///   - live: lines that are drawn anew with the next update, fewer than the window has
  ///     rows. They are cut: the last column stays free, for some terminals wrap when it
  ///     is written.
  public mutating func update(
    settled: [Line] = [], live: [Line], size: WindowSize, depth: ColourDepth
  ) -> String {
    let room = max(1, size.columns - 1)
    let live = live.prefix(max(1, size.rows - 1)).map { $0.cut(to: room) }
    let next = live.map { FrameDiffer.Row($0, width: size.columns, depth: depth) }
    if settled.isEmpty, next == rows, columns == size.columns || rows.isEmpty { return "" }
    var out = TerminalCodes.beginUpdate + start(columns: size.columns)
    for line in settled {
      out += TerminalCodes.eraseRight + line.render(width: nil, depth: depth) + "\n"
    }
    for (index, row) in next.enumerated() {
      if index > 0 { out += "\n" }
      if row.isContested { out += TerminalCodes.eraseRight }
      out += row.text + TerminalCodes.eraseRight
    }
    rows = next
    cells = live.map(\.cells)
    columns = size.columns
    return out + TerminalCodes.eraseBelow + TerminalCodes.endUpdate
  }

  /// Leaves what is drawn: the next update begins where the cursor is, which has to be the
  /// beginning of a line.
  public mutating func forget() { (rows, cells) = ([], []) }

  /// In a window that has become narrower, terminals break rows that do not fit any more.
  private func start(columns: Int) -> String {
    let broken = cells.map { max(1, ($0 + columns - 1) / max(1, columns)) }
    let up = broken.reduce(0, +) - 1
    return "\r" + (up > 0 ? "\u{1b}[\(up)A" : "")
  }
}
