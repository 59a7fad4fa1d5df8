import Screen

/// Rows of a label and a value, the values below each other.
struct Labels {
  /// The cells of the labels' column.
  static let cells = 8

  private let width: Int
  private(set) var lines: [Line] = []

  /// - Parameter width: the cells of a row.
  init(width: Int) { self.width = width }

  /// Adds a row; nothing when the value is empty. A value that is too long is cut.
  mutating func add(_ label: String, _ value: Line) {
    guard !value.spans.isEmpty else { return }
    var line = Line()
    line.add(Fit.padEnd(label, to: Self.cells) + " ", .dim)
    line.add(value)
    lines.append(line.cut(to: width))
  }

  /// Adds facts over as many rows as they need; nothing when there are none.
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
