/// One line of the screen, made of pieces that each have a style.
public struct Line: Equatable, Sendable {
  /// Text of one style.
  public struct Span: Equatable, Sendable {
    /// Text without controls: what comes from outside went through `Plain`.
    public let text: String
    /// How it looks.
    public let style: Style

    /// - Parameters:
    ///   - text: text without controls.
    ///   - style: how it looks.
    public init(_ text: String, _ style: Style = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// The pieces from left to right.
  public var spans: [Span]

  /// - Parameter spans: the pieces from left to right.
  public init(_ spans: [Span] = []) { self.spans = spans }

  /// Adds a piece at the end.
  public mutating func add(_ text: String, _ style: Style = .plain) {
    if !text.isEmpty { spans.append(Span(text, style)) }
  }

  /// The text without any style.
  public var text: String { spans.map(\.text).joined() }

  /// The cells that the whole line takes.
  public var cells: Int { spans.reduce(0) { $0 + CellWidth.of($1.text) } }

  /// The line as bytes for a terminal, without a line end.
  ///
  /// - Parameters:
  ///   - width: the most cells it may take, the last one an ellipsis when
  ///     something is missing; nil writes everything.
  ///   - depth: the colours that the terminal knows.
  public func render(width: Int?, depth: ColourDepth) -> String {
    guard let width else { return join(spans, depth) }
    return join(cut(to: width).spans, depth)
  }

  /// The line, cut to at most `cells` with an ellipsis as its last cell when
  /// something is missing.
  ///
  /// - Parameter cells: the room; 0 or less gives an empty line.
  public func cut(to cells: Int) -> Line {
    guard cells > 0 else { return Line() }
    if take(cells: cells).isWhole { return self }
    var (cut, _) = take(cells: cells - 1)
    cut.append(Span(Fit.ellipsis, cut.last?.style ?? .plain))
    return Line(cut)
  }

  private func take(cells: Int) -> (spans: [Span], isWhole: Bool) {
    var taken: [Span] = []
    var room = cells
    for span in spans {
      let head = Fit.take(span.text[...], cells: room)
      if !head.part.isEmpty { taken.append(Span(String(head.part), span.style)) }
      if !head.isWhole { return (taken, false) }
      room -= head.cells
    }
    return (taken, true)
  }

  private func join(_ spans: [Span], _ depth: ColourDepth) -> String {
    spans.map { $0.style.apply(to: $0.text, depth: depth) }.joined()
  }
}
