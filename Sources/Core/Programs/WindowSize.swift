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
}
