import Core
import Screen

/// Parts of a longer answer, each below a heading with its count.
enum Section {
  /// A member's name in words: `userFacts`, `user facts`.
  static func title(_ name: String) -> String {
    var words = ""
    for character in Plain.line(name, limit: 60) {
      if character.isUppercase { words += " " }
      words += character.lowercased()
    }
    return words
  }

  /// Facts below a heading; nothing when there are none.
  static func facts(_ title: String, _ values: [JSONValue], width: Int?) -> [Line] {
    if values.isEmpty { return [] }
    let facts = values.compactMap { Fact($0) }
    let odd = values.filter { Fact($0) == nil }.flatMap { value in
      Paragraph.wrap(Plain.line(value.compact(limit: Cell.longest)), to: width).map { Line($0) }
    }
    return heading(title, values.count) + FactRows(facts, width: width).lines(heading: false) + odd
  }

  /// Texts below a heading, each broken to the width; nothing when there are none.
  static func texts(
    _ title: String, _ texts: [(head: String, text: String)], width: Int?
  ) -> [Line] {
    if texts.isEmpty { return [] }
    return heading(title, texts.count)
      + texts.flatMap { entry in
        let room = width.map { max($0 - 2, 2) }
        let head = entry.head.isEmpty ? [] : [Line(Plain.line(entry.head, limit: 400), .dim)]
        return head
          + Paragraph.wrap(Plain.line(entry.text, limit: Cell.longest), to: room).map {
            Line([Line.Span("  "), Line.Span($0)])
          }
      }
  }

  private static func heading(_ title: String, _ count: Int) -> [Line] {
    [Line(), Line([Line.Span(title, .bold), Line.Span(" (\(count))", .dim)])]
  }
}
