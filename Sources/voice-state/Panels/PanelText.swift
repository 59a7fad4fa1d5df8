import Core
import Screen

/// Pieces of text that several panels are made of.
enum PanelText {
  /// A text in quotation marks; nil for none.
  static func quoted(_ text: String?) -> String? { Outside.text(text).map { "“\($0)”" } }

  /// A number with its noun: `1 turn`, `3 turns`.
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// An age for a column of ages.
  static func age(_ time: Timestamp?, _ now: Timestamp) -> Line {
    Line(Fit.padStart(Age.text(time, at: now) ?? "?", to: 7), .dim)
  }

  /// A text over several lines behind a beginning, the last one cut when there
  /// is more.
  ///
  /// - Parameters:
  ///   - text: any text; its line breaks are shown as signs.
  ///   - style: how it looks.
  ///   - lead: what stands before its first line.
  ///   - width: the cells of a line.
  ///   - indent: blanks before the lines after the first.
  ///   - most: how many lines at most, 1 or more.
  static func paragraph(
    _ text: String, _ style: Style = .plain, lead: Line = Line(), width: Int, indent: Int = 2,
    most: Int
  ) -> [Line] {
    let room = max(width - indent, 2)
    let first = max(width - lead.cells, 2)
    let plain = Plain.line(text, limit: first + room * most)
    var rows = Paragraph.wrap(plain, to: first)
    if rows.count > 1 {
      // The lines below the first have other room than it.
      rows = [rows[0]] + Paragraph.wrap(rows.dropFirst().joined(separator: " "), to: room)
    }
    if rows.count > most {
      let end = Fit.truncate(rows[most - 1], to: (most == 1 ? first : room) - 2)
      rows = Array(rows.prefix(most - 1)) + [end.hasSuffix(Fit.ellipsis) ? end : end + " …"]
    }
    return rows.enumerated().map { index, row in
      var line = index == 0 ? lead : Line(Fit.spaces(indent))
      line.add(row, style)
      return line.cut(to: width)
    }
  }
}
