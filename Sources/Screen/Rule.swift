/// The line above a part of the screen: a title in a rule, and a note at its end.
public enum Rule {
  /// `── title ─────────── note ──`, exactly as wide as asked. The note gives
  /// way first, its last piece before the others, then the title is cut.
  ///
  /// - Parameters:
  ///   - title: a word or two.
  ///   - note: a few words; may be empty.
  ///   - width: the cells of the line.
  ///   - sign: what the rule is made of, one cell wide.
  public static func line(
    _ title: Line, note: Line = Line(), width: Int, sign: String = "─"
  ) -> Line {
    var line = Line()
    guard width > 6 else { return title.fitted(to: max(width, 0)) }
    let name = title.cut(to: width - 5)
    line.add(sign + sign + " ", .dim)
    line.add(name)
    line.add(" ", .dim)
    var rest = width - 4 - name.cells
    var end = Line()
    // A cell of rule on either side of the note, and a blank.
    let room = rest - 4
    var note = note
    while note.spans.count > 1, note.cells > room { note.spans.removeLast() }
    if !note.spans.isEmpty, room >= min(note.cells, 12) {
      end.add(" ")
      end.add(note.cut(to: room))
      end.add(" ")
      rest -= end.cells + 1
    }
    line.add(String(repeating: sign, count: max(0, rest)), .dim)
    if !end.spans.isEmpty {
      line.add(end)
      line.add(sign, .dim)
    }
    return line
  }
}
