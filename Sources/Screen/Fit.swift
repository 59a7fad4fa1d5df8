/// Text cut and filled to a number of cells, never inside a unit of `CellScan`.
public enum Fit {
  /// What stands for the part that was cut off; one cell.
  public static let ellipsis = "…"

  /// The longest beginning that fits, and whether that is all; no more is looked at.
  static func receive(
    _ text: Substring, cells: Int
  ) -> (part: Substring, cells: Int, isWhole: Bool) {
    // Of ASCII every byte is a cell; one more is looked at, for what may join the last.
    let start = text.utf8.prefix(max(cells, 0) + 1)
    if CellWidth.isASCII(start) {
      let count = start.count
      if count <= cells { return (text, count, true) }
      return (text[..<start.index(before: start.endIndex)], count - 1, false)
    }
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
    let whole = receive(text[...], cells: cells)
    if whole.isWhole { return text }
    return receive(text[...], cells: cells - 1).part + ellipsis
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

/// Breaks text into lines for a column of a given width.
public enum Paragraph {
  /// The lines of a text: its own line breaks are kept, longer lines are broken
  /// at spaces, and a word longer than the column inside, never inside a unit of
  /// `CellScan`. Each line is escaped as `Visible` does.
  ///
  /// - Parameter cells: the width of the column; nil breaks nothing but line breaks.
  public static func wrap(_ text: String, to cells: Int?) -> [String] {
    let lines = Plain.lines(text)
    guard let cells else { return lines }
    return lines.flatMap { breakLine($0[...], max(cells, 2)) }
  }

  /// The first lines of a text, the last one ending in an ellipsis when there is
  /// more. Only as much of the text is looked at as can be seen.
  ///
  /// - Parameter rows: the most lines, 1 or more.
  public static func wrap(_ text: String, to cells: Int, rows: Int) -> [String] {
    // Marks take no cell of their own, but no letter has more than a few.
    let limit = max(cells, 2) * max(rows, 1) * 4
    let seen = text.unicodeScalars.prefix(limit)
    var lines = wrap(String(String.UnicodeScalarView(seen)), to: cells)
    let isWhole = seen.endIndex == text.unicodeScalars.endIndex && lines.count <= rows
    lines = Array(lines.prefix(max(rows, 1)))
    if !isWhole, let last = lines.popLast() {
      lines.append(Fit.receive(last[...], cells: max(cells, 2) - 1).part + Fit.ellipsis)
    }
    return lines
  }

  private static func breakLine(_ line: Substring, _ cells: Int) -> [String] {
    var broken: [String] = []
    var rest = line
    while true {
      let head = Fit.receive(rest, cells: cells)
      if head.isWhole {
        broken.append(String(rest))
        return broken
      }
      // `rest` goes on: end at the last space that leaves something before it.
      let part = head.part.unicodeScalars
      if rest.unicodeScalars[part.endIndex] == " " {
        broken.append(trimEnd(part))
        rest = Substring(rest.unicodeScalars[part.endIndex...].drop { $0 == " " })
      } else if let space = part.lastIndex(of: " "), part[..<space].contains(where: { $0 != " " }) {
        broken.append(trimEnd(part[..<space]))
        rest = rest[part.index(after: space)...]
      } else {
        broken.append(String(part))
        rest = rest[part.endIndex...]
      }
      if rest.isEmpty { return broken }
    }
  }

  private static func trimEnd(_ text: Substring.UnicodeScalarView) -> String {
    guard let last = text.lastIndex(where: { $0 != " " }) else { return "" }
    return String(text[...last])
  }
}
