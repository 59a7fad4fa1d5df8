import CLibc

/// The size of a terminal, in cells.
public struct WindowSize: Equatable, Sendable {
  /// Cells in a row.
  public var columns: Int
  /// Rows.
  public var rows: Int

  /// - Parameters: at least 1 each.
  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }

  /// The size of a terminal's window, 80 by 24 when it does not tell.
  ///
  /// - Parameter descriptor: open on the terminal.
  public init(of descriptor: Int32) {
    var columns: Int32 = 0
    var rows: Int32 = 0
    let isKnown = clibc_window_size(descriptor, &columns, &rows)
    self.init(columns: isKnown ? Int(columns) : 80, rows: isKnown ? max(1, Int(rows)) : 24)
  }
}
