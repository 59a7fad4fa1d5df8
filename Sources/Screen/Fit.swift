/// Text cut and filled to a number of cells, never inside a unit of `CellScan`.
public enum Fit {
  /// What stands for the part that was cut off; one cell.
  public static let ellipsis = "…"

  /// The longest beginning of a text that fits, and whether that is all of it. No
  /// more of the text is looked at.
  ///
  /// - Parameters:
  ///   - text: text without controls.
  ///   - cells: the room, 0 or more.
  static func take(
    _ text: Substring, cells: Int
  ) -> (part: Substring, cells: Int, isWhole: Bool) {
    var used = 0
    var end = text.startIndex
    for unit in CellScan(text) {
      if used + unit.cells > cells { return (text[..<end], used, false) }
      used += unit.cells
      end = unit.end
    }
    return (text, used, true)
  }

  /// The text, cut to at most `cells` with an ellipsis as its last cell when
  /// something is missing.
  ///
  /// - Parameters:
  ///   - text: text without controls.
  ///   - cells: the room; 0 or less gives nothing.
  public static func truncate(_ text: String, to cells: Int) -> String {
    guard cells > 0 else { return "" }
    let whole = take(text[...], cells: cells)
    if whole.isWhole { return text }
    return take(text[...], cells: cells - 1).part + ellipsis
  }

  /// The text with spaces after it up to `cells`; longer text stays as it is.
  public static func padEnd(_ text: String, to cells: Int) -> String {
    text + spaces(cells - CellWidth.of(text))
  }

  /// The text with spaces before it up to `cells`; longer text stays as it is.
  public static func padStart(_ text: String, to cells: Int) -> String {
    spaces(cells - CellWidth.of(text)) + text
  }

  /// So many spaces, none for a negative count.
  public static func spaces(_ count: Int) -> String {
    String(repeating: " ", count: max(0, count))
  }
}
