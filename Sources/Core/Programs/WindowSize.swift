import CLibc

/// The size of a terminal, in cells.
public struct WindowSize: Equatable, Sendable {
  /// Cells in a row.
  public var columns: Int
  /// Rows.
  public var rows: Int

  /// At least 1 each.
  public init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (columns, rows)
  }

  /// The size of a terminal's window, 80 by 24 when it does not tell.
  public init(of descriptor: Int32) {
    self = Self.told(by: descriptor) ?? WindowSize(columns: 80, rows: 24)
  }

  /// The size that a terminal tells; nil where there is none.
  public static func told(by descriptor: Int32) -> WindowSize? {
    var columns: Int32 = 0
    var rows: Int32 = 0
    guard clibc_window_size(descriptor, &columns, &rows) else { return nil }
    return WindowSize(columns: Int(columns), rows: max(1, Int(rows)))
  }
}
