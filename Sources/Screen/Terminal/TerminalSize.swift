/// The size of a terminal's window, cells.
public struct TerminalSize: Equatable, Sendable {
  public let columns: Int
  public let rows: Int

  /// - Parameters:
  ///   - columns: 1 or more.
  ///   - rows: 1 or more.
  public init(columns: Int, rows: Int) {
    self.columns = columns
    self.rows = rows
  }
}
