/// Facts side by side with dots between them, on as many lines as they need.
///
/// A fact is never broken: it goes to the next line, and only one that is longer
/// than a whole line is cut.
public struct FactFlow: Sendable {
  private var facts: [Line] = []

  /// No facts yet.
  public init() {}

  /// Whether there is nothing to show.
  public var isEmpty: Bool { facts.isEmpty }

  /// Adds a fact of one style; nil and an empty text are none.
  ///
  /// - Parameters:
  ///   - text: text without controls.
  ///   - style: how it looks.
  public mutating func add(_ text: String?, _ style: Style = .plain) {
    if let text, !text.isEmpty { facts.append(Line([Line.Span(text, style)])) }
  }

  /// Adds a fact with a dim word before it: `model orion-4`; nil and an empty
  /// text are none.
  public mutating func add(_ label: String, _ text: String?, _ style: Style = .plain) {
    guard let text, !text.isEmpty else { return }
    facts.append(Line([Line.Span(label + " ", .dim), Line.Span(text, style)]))
  }

  /// Adds a fact of several styles; a line without text is none.
  public mutating func add(_ line: Line) {
    if line.spans.contains(where: { !$0.text.isEmpty }) { facts.append(line) }
  }

  /// The facts as lines.
  ///
  /// - Parameters:
  ///   - width: the cells of a line.
  ///   - indent: blanks before each line.
  public func lines(width: Int, indent: Int = 0) -> [Line] {
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
