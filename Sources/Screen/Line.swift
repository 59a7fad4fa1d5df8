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

  /// Adds the pieces of another line at the end.
  public mutating func add(_ line: Line) { spans += line.spans }

  /// A line of one piece.
  public init(_ text: String, _ style: Style = .plain) {
    spans = text.isEmpty ? [] : [Span(text, style)]
  }

  /// The line as bytes for a terminal, without a line end.
  ///
  /// - Parameters:
  ///   - width: the most cells it may take, the last one an ellipsis when
  ///     something is missing; nil writes everything.
  ///   - depth: the colours that the terminal knows.
  public func render(width: Int?, depth: ColourDepth) -> String {
    let line = width.map { cut(to: $0) } ?? self
    return line.spans.map { $0.style.apply(to: $0.text, depth: depth) }.joined()
  }

  /// The line, cut to at most so many cells, the last one an ellipsis when
  /// something is missing.
  ///
  /// - Parameter width: 0 or less gives an empty line.
  public func cut(to width: Int) -> Line {
    guard width > 0 else { return Line() }
    if take(cells: width).isWhole { return self }
    var (cut, _) = take(cells: width - 1)
    cut.append(Span(Fit.ellipsis, cut.last?.style ?? .plain))
    return Line(cut)
  }

  /// The line with blanks after it up to so many cells; cut when it is longer.
  public func fitted(to width: Int) -> Line {
    var line = cut(to: width)
    line.add(Fit.spaces(width - line.cells))
    return line
  }

  private func take(cells: Int) -> (spans: [Span], isWhole: Bool) {
    var taken: [Span] = []
    taken.reserveCapacity(spans.count)
    var room = cells
    for span in spans {
      let head = Fit.take(span.text[...], cells: room)
      if head.isWhole {
        taken.append(span)
      } else {
        if !head.part.isEmpty { taken.append(Span(String(head.part), span.style)) }
        return (taken, false)
      }
      room -= head.cells
    }
    return (taken, true)
  }
}
