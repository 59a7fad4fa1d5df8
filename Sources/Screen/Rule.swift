/// The line above a part of the screen: a title in a rule, and a note at its end.
public enum Rule {
  /// `── title ─────────── note ──`, exactly as wide as asked. The note gives
  /// way first, then the title is cut.
  ///
  /// - Parameters:
  ///   - title: text without controls.
  ///   - note: a few words; may be empty.
  ///   - width: the cells of the line.
  ///   - style: of the title.
  public static func line(
    _ title: String, note: Line = Line(), width: Int, style: Style = .bold
  ) -> Line {
    var line = Line()
    guard width > 6 else { return Line(title, style).fitted(to: max(width, 0)) }
    let name = Fit.truncate(title, to: width - 5)
    line.add("── ", .dim)
    line.add(name, style)
    line.add(" ", .dim)
    var rest = width - 4 - CellWidth.of(name)
    var end = Line()
    // Two cells of rule before the note and one after it make it a note.
    let room = rest - 5
    if !note.spans.isEmpty, room >= 4 {
      end.add(" ")
      end.add(note.cut(to: room))
      end.add(" ")
      rest -= end.cells + 1
    }
    line.add(String(repeating: "─", count: max(0, rest)), .dim)
    if !end.spans.isEmpty {
      line.add(end)
      line.add("─", .dim)
    }
    return line
  }
}
