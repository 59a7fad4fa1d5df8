import Screen

/// Puts lines together: of lines, texts and lists of lines. What is nil or empty adds nothing.
@resultBuilder
enum Lines {
  static func buildExpression(_ lines: [Line]) -> [Line] { lines }
  static func buildExpression(_ text: String?) -> [Line] { buildExpression(text.map { Line($0) }) }
  static func buildExpression(_ line: Line?) -> [Line] {
    guard let line, !line.spans.isEmpty else { return [] }
    return [line]
  }

  static func buildBlock(_ parts: [Line]...) -> [Line] { Array(parts.joined()) }
  static func buildArray(_ parts: [[Line]]) -> [Line] { Array(parts.joined()) }
  static func buildOptional(_ lines: [Line]?) -> [Line] { lines ?? [] }
  static func buildEither(first lines: [Line]) -> [Line] { lines }
  static func buildEither(second lines: [Line]) -> [Line] { lines }
}

extension Line {
  /// A line of pieces.
  init(@Lines _ pieces: () -> [Line]) { self.init(pieces().flatMap(\.spans)) }
}

extension String {
  var dim: Line { Line(self, .dim) }

  func styled(_ style: Style) -> Line { Line(self, style) }
}

/// A fact with a dim word before it: `model orion-4`; nil when there is none.
func fact(_ label: String, _ text: String?, _ style: Style = .plain) -> Line? {
  guard let text, !text.isEmpty else { return nil }
  return Line([Line.Span(label + " ", .dim), Line.Span(text, style)])
}

/// Facts side by side with dots between them, on as many lines as they need.
///
/// A fact is never broken: it goes to the next line, and only one that is longer
/// than a whole line is cut.
func flow(width: Int, indent: Int = 0, @Lines _ facts: () -> [Line]) -> [Line] {
  var lines: [Line] = []
  var line = Line()
  var used = 0
  for fact in facts() {
    let cells = fact.cells
    if used > 0, used + 3 + cells <= width {
      line.add(" · ", .dim)
      used += 3
    } else {
      if used > 0 { lines.append(line) }
      used = min(indent, width)
      line = Line(Fit.spaces(used))
    }
    line.add(fact)
    used += cells
  }
  if !line.spans.isEmpty { lines.append(line) }
  return lines.map { $0.cut(to: width) }
}

/// The cells of the labels' column.
private let labelCells = 8

/// Facts behind a label, over as many rows as they need; no facts are no row.
func row(_ label: String, _ width: Int, @Lines _ facts: () -> [Line]) -> [Line] {
  labelled(label, width, flow(width: max(width - labelCells - 1, 1), facts))
}

/// A text without controls behind a label, over several rows, the last one cut when there is
/// more; no text is no row.
func row(
  _ label: String, _ width: Int, text: String?, _ style: Style = .plain, most: Int
) -> [Line] {
  let rows = text.map { Paragraph.wrap($0, to: max(width - labelCells - 1, 4), rows: most) }
  return labelled(label, width, rows?.map { Line($0, style) }.filter { !$0.spans.isEmpty } ?? [])
}

private func labelled(_ label: String, _ width: Int, _ rows: [Line]) -> [Line] {
  rows.enumerated().map { index, row in
    Line {
      (Fit.padEnd(index == 0 ? label : "", to: labelCells) + " ").dim
      row
    }.cut(to: width)
  }
}
