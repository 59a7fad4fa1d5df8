import Core
import Screen

/// What is different between two versions of a fact, for a person.
enum FactDiff {
  private static let old = Style(Palette.error)
  private static let new = Style(Palette.positive)

  /// A line with `-` and one with `+` for each member that is not the same;
  /// nothing when all are.
  static func lines(_ a: FactDraft, _ b: FactDraft, width: Int?) -> [Line] {
    FactDraft.names.filter { a[$0] != b[$0] }.flatMap { name in
      lines("-", name, a[name], old, width) + lines("+", name, b[name], new, width)
    }
  }

  private static func lines(
    _ mark: String, _ name: String, _ text: String, _ style: Style, _ width: Int?
  ) -> [Line] {
    let head = "\(mark) \(Fit.padEnd(name, to: 11))"
    let room = width.map { max($0 - CellWidth.of(head), 16) }
    let broken = Paragraph.wrap(Plain.line(text, limit: Cell.longest), to: room)
    return broken.enumerated().map { index, part in
      Line([
        Line.Span(index == 0 ? head : mark + Fit.spaces(CellWidth.of(head) - 1), style),
        Line.Span(part, style),
      ])
    }
  }
}
