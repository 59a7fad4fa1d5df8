import Screen

/// Facts side by side with dots between them, on as many lines as they need.
///
/// A fact is never broken: it goes to the next line, and only one that is longer
/// than a whole line is cut.
struct FactFlow: Sendable {
  private var facts: [Line] = []

  /// No facts yet.
  init() {}

  /// Whether there is nothing to show.
  var isEmpty: Bool { facts.isEmpty }

  /// Adds a fact of one style; nil and an empty text add nothing.
  mutating func add(_ text: String?, _ style: Style = .plain) {
    if let text, !text.isEmpty { facts.append(Line([Line.Span(text, style)])) }
  }

  /// Adds a fact with a dim word before it: `model orion-4`; nil and an empty
  /// text add nothing.
  mutating func add(_ label: String, _ text: String?, _ style: Style = .plain) {
    guard let text, !text.isEmpty else { return }
    facts.append(Line([Line.Span(label + " ", .dim), Line.Span(text, style)]))
  }

  /// Adds a fact of several styles; a line without text adds nothing.
  mutating func add(_ line: Line) {
    if line.spans.contains(where: { !$0.text.isEmpty }) { facts.append(line) }
  }

  /// The facts as lines.
  func lines(width: Int, indent: Int = 0) -> [Line] {
    var lines: [Line] = []
    var line = Line()
    var used = 0
    for fact in facts {
      let cells = fact.cells
      if used > 0, used + 3 + cells <= width {
        line.add(" · ", .dim)
        used += 3
      } else {
        if used > 0 { lines.append(line) }
        line = Line()
        line.add(Fit.spaces(min(indent, width)))
        used = min(indent, width)
      }
      line.spans += fact.spans
      used += cells
    }
    if !line.spans.isEmpty { lines.append(line) }
    return lines.map { $0.cut(to: width) }
  }
}

/// Rows of a label and a value, the values below each other.
struct Labels {
  /// The cells of the labels' column.
  static let cells = 8

  private let width: Int
  private(set) var lines: [Line] = []

  init(width: Int) { self.width = width }

  /// Adds a row; nothing when the value is empty. A value that is too long is cut.
  mutating func add(_ label: String, _ value: Line) {
    guard !value.spans.isEmpty else { return }
    var line = Line()
    line.add(Fit.padEnd(label, to: Self.cells) + " ", .dim)
    line.add(value)
    lines.append(line.cut(to: width))
  }

  /// Adds facts over as many rows as they need; no facts add nothing.
  mutating func add(_ label: String, _ facts: FactFlow) {
    for (index, row) in facts.lines(width: max(width - Self.cells - 1, 1)).enumerated() {
      add(index == 0 ? label : "", row)
    }
  }

  /// Adds a text over several rows, the last one cut when there is more.
  ///
  /// - Parameters:
  ///   - label: before the first row.
  ///   - text: without controls.
  ///   - style: of the text.
  ///   - rows: the most rows.
  mutating func add(_ label: String, text: String, _ style: Style = .plain, rows: Int) {
    let wrapped = Paragraph.wrap(text, to: max(width - Self.cells - 1, 4), rows: rows)
    for (index, row) in wrapped.enumerated() { add(index == 0 ? label : "", Line(row, style)) }
  }
}
