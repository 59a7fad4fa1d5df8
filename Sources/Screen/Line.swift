/// One line of the screen, made of pieces that each have a style.
public struct Line: Equatable, Sendable {
  /// Text of one style.
  public struct Span: Equatable, Sendable {
    /// Text without controls: what comes from outside went through `Plain`.
    public let text: String
    /// How it looks.
    public let style: Style
    /// The cells of the text: measured once, asked for often.
    public let cells: Int

    /// - Parameter text: text without controls.
    public init(_ text: String, _ style: Style = .plain) {
      self.init(text, style, cells: CellWidth.of(text))
    }

    init(_ text: String, _ style: Style, cells: Int) {
      (self.text, self.style, self.cells) = (text, style, cells)
    }
  }

  /// The pieces from left to right.
  public var spans: [Span]

  public init(_ spans: [Span] = []) { self.spans = spans }

  /// Adds a piece at the end.
  public mutating func add(_ text: String, _ style: Style = .plain) {
    if !text.isEmpty { spans.append(Span(text, style)) }
  }

  /// The text without any style.
  public var text: String { spans.map(\.text).joined() }

  /// The cells that the whole line takes.
  public var cells: Int { spans.reduce(0) { $0 + $1.cells } }

  /// Adds the pieces of another line at the end.
  public mutating func add(_ line: Line) { spans += line.spans }

  /// A line of one piece.
  public init(_ text: String, _ style: Style = .plain) {
    spans = text.isEmpty ? [] : [Span(text, style)]
  }

  /// Cells in columns, each cut to its width; blanks at the end are left out.
  ///
  /// - Parameter isRight: whether the cells of a column end below each other, as numbers do.
  public init(_ cells: [Line], widths: [Int], gap: Int, isRight: (Int) -> Bool = { _ in false }) {
    self.init()
    var blanks = 0
    for (column, (cell, width)) in zip(cells, widths).enumerated() {
      let part = cell.cut(to: width)
      if part.spans.isEmpty {
        blanks += width
      } else {
        let rest = max(0, width - part.cells)
        add(Fit.spaces(blanks + (isRight(column) ? rest : 0)))
        add(part)
        blanks = isRight(column) ? 0 : rest
      }
      blanks += gap
    }
  }

  /// The line as bytes for a terminal, without a line end.
  ///
  /// - Parameter width: the most cells it may take, the last one an ellipsis when something is
  ///   missing; nil writes everything.
  public func render(width: Int?, depth: ColourDepth) -> String {
    let line = width.map { cut(to: $0) } ?? self
    var out = ""
    var index = 0
    while index < line.spans.count {
      let style = line.spans[index].style
      let codes = style.codes(depth: depth)
      out += codes
      // Neighbours of one style are one piece.
      while index < line.spans.count, line.spans[index].style == style {
        out += line.spans[index].text
        index += 1
      }
      if !codes.isEmpty { out += Style.reset }
    }
    return out
  }

  /// The line, cut to at most so many cells, the last one an ellipsis when
  /// something is missing.
  ///
  /// - Parameter width: 0 or less gives an empty line.
  public func cut(to width: Int) -> Line {
    guard width > 0 else { return Line() }
    if cells <= width { return self }
    var taken: [Span] = []
    taken.reserveCapacity(spans.count + 1)
    // A cell is kept for the ellipsis.
    var room = width - 1
    for span in spans {
      if span.cells <= room {
        taken.append(span)
        room -= span.cells
        continue
      }
      let head = Fit.receive(span.text[...], cells: room)
      if !head.part.isEmpty {
        taken.append(Span(String(head.part), span.style, cells: head.cells))
      }
      break
    }
    taken.append(Span(Fit.ellipsis, taken.last?.style ?? .plain, cells: 1))
    return Line(taken)
  }

  /// The line with blanks after it up to so many cells; cut when it is longer.
  public func fitted(to width: Int) -> Line {
    var line = cut(to: width)
    line.add(Fit.spaces(width - line.cells))
    return line
  }
}
