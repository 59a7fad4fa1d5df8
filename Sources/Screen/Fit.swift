/// Text cut and filled to a number of cells, never inside a grapheme cluster of
/// one or two.
public enum Fit {
  /// What stands for the part that was cut off; one cell.
  public static let ellipsis = "…"

  /// The longest beginning of a text that fits, and whether that is all of it.
  ///
  /// - Parameters:
  ///   - text: text without controls.
  ///   - cells: the room, 0 or more.
  static func take(
    _ text: Substring, cells: Int
  ) -> (part: Substring, cells: Int, isWhole: Bool) {
    if let all = CellWidth.simple(text) {
      if all <= cells { return (text, all, true) }
      let end = text.unicodeScalars.index(text.startIndex, offsetBy: max(cells, 0))
      return (text[..<end], max(cells, 0), false)
    }
    var used = 0
    var end = text.startIndex
    for index in text.indices {
      let width = CellWidth.of(text[index])
      if used + width > cells {
        // A cluster of many letters may have no end: it is cut between them.
        if width > 2 { take(letters: text[index...], cells: cells, &used, &end) }
        return (text[..<end], used, false)
      }
      used += width
      end = text.index(after: index)
    }
    return (text, used, true)
  }

  /// Goes on letter by letter as far as there is room.
  private static func take(
    letters text: Substring, cells: Int, _ used: inout Int, _ end: inout String.Index
  ) {
    for index in text.unicodeScalars.indices {
      let width = CellWidth.of(text.unicodeScalars[index])
      if used + width > cells { return }
      used += width
      end = text.unicodeScalars.index(after: index)
    }
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
