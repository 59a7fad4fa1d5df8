/// Breaks text into lines for a column of a given width.
public enum Paragraph {
  /// The lines of a text: its own line breaks are kept, longer lines are broken
  /// at spaces, and a word longer than the column inside, never inside a unit of
  /// `CellScan`. Each line is escaped as `Visible` does.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - cells: the width of the column; nil breaks nothing but line breaks.
  public static func wrap(_ text: String, to cells: Int?) -> [String] {
    let lines = Plain.lines(text)
    guard let cells else { return lines }
    return lines.flatMap { breakLine($0[...], max(cells, 2)) }
  }

  /// The first lines of a text, the last one ending in an ellipsis when there is
  /// more. Only as much of the text is looked at as can be seen.
  ///
  /// - Parameters:
  ///   - text: any text.
  ///   - cells: the width of the column.
  ///   - rows: the most lines, 1 or more.
  public static func wrap(_ text: String, to cells: Int, rows: Int) -> [String] {
    // Marks take no cell of their own, but no letter has more than a few.
    let limit = max(cells, 2) * max(rows, 1) * 4
    let seen = text.unicodeScalars.prefix(limit)
    var lines = wrap(String(String.UnicodeScalarView(seen)), to: cells)
    let isWhole = seen.endIndex == text.unicodeScalars.endIndex && lines.count <= rows
    lines = Array(lines.prefix(max(rows, 1)))
    if !isWhole, let last = lines.popLast() {
      lines.append(Fit.take(last[...], cells: max(cells, 2) - 1).part + Fit.ellipsis)
    }
    return lines
  }

  private static func breakLine(_ line: Substring, _ cells: Int) -> [String] {
    var broken: [String] = []
    var rest = line
    while true {
      let head = Fit.take(rest, cells: cells)
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
