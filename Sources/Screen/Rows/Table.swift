import Core
public import Records

/// Rows of cells below headings, aligned, and no wider than they may be.
///
/// Rows may come in several batches: columns only grow from one to the next.
public struct Table {
  /// How a column is set.
  public struct Column: Sendable {
    var title: String
    /// Whether the cells end below each other, as numbers do.
    var isRight: Bool
    var gives: Bool

    /// - Parameter title: the heading, fit for a terminal.
    public init(title: String, isRight: Bool = false, gives: Bool = false) {
      (self.title, self.isRight, self.gives) = (title, isRight, gives)
    }
  }

  /// The cells between two columns.
  private static let gap = 2
  /// What a column that gives way keeps, cells.
  private static let least = 8

  private let columns: [Column]
  private let width: Int?
  private let depth: ColourDepth
  private var widths: [Int]
  private var shown: [Int]?

  /// - Parameters:
  ///   - columns: from left to right; without a title at all, no line of headings.
  ///   - width: the most cells of a row; nil for no limit.
  public init(_ columns: [Column], width: Int?, depth: ColourDepth) {
    (self.columns, self.width, self.depth) = (columns, width, depth)
    widths = columns.map { CellWidth.of($0.title) }
  }

  /// The lines of a batch, without line ends; the first has the headings.
  /// Columns that are empty in all of the first batch are left out.
  ///
  /// - Parameter rows: a cell a column.
  public mutating func lines(_ rows: [[Line.Span]]) -> [String] {
    let isFirst = shown == nil
    let shown =
      shown
      ?? columns.indices.filter { column in
        rows.isEmpty || rows.contains { !$0[column].text.isEmpty }
      }
    self.shown = shown
    for column in shown {
      widths[column] = max(widths[column], rows.map { $0[column].cells }.max() ?? 0)
    }
    let room = fitted(shown)
    var lines: [String] = []
    if isFirst, columns.contains(where: { !$0.title.isEmpty }) {
      lines.append(line(columns.map { Line.Span($0.title, .bold) }, shown, room))
    }
    return lines + rows.map { line($0, shown, room) }
  }

  private func fitted(_ shown: [Int]) -> [Int] {
    guard let width else { return widths }
    var room = widths
    var over = shown.reduce(0) { $0 + room[$1] } + Self.gap * max(0, shown.count - 1) - width
    let giving = shown.filter { columns[$0].gives }
    while over > 0, let widest = giving.max(by: { room[$0] < room[$1] }), room[widest] > Self.least
    {
      let next = giving.filter { $0 != widest }.map { room[$0] }.max() ?? 0
      let step = min(over, max(1, room[widest] - max(next, Self.least)))
      room[widest] -= step
      over -= step
    }
    return room
  }

  private func line(_ row: [Line.Span], _ shown: [Int], _ room: [Int]) -> String {
    let cells = shown.map { row[$0].text.isEmpty ? Line() : Line([row[$0]]) }
    return Line(
      cells, widths: shown.map { room[$0] }, gap: Self.gap,
      isRight: { columns[shown[$0]].isRight }
    ).render(width: width, depth: depth)
  }
}

extension Cell {
  /// More scalars of a text are of no use in a cell.
  public static let longest = 4000

  /// The cell, fit for a terminal.
  public var span: Line.Span {
    switch self {
    case .text(let value):
      guard let value, !value.isNull else { return Line.Span("") }
      return Self.plain(value.text ?? value.compact(limit: Self.longest))
    case .words(let text, let mood): return Self.plain(text, mood)
    case .time(let value):
      guard let time = value?.time else { return Cell.text(value).span }
      return Line.Span(TimeText.absolute(time), .dim)
    case .age(let value, let now):
      let time = value?.time
      return time.map { Line.Span(TimeText.relative($0, now: now)) } ?? Cell.text(value).span
    case .duration(let milliseconds, let mood):
      return Line.Span(Amount.duration(milliseconds), mood.style)
    case .dollars(let amount): return Line.Span(Amount.money(amount))
    case .bytes(let count): return Line.Span(Amount.bytes(Double(count)))
    case .bars(let values): return Line.Span(Spark.line(values))
    case .kind(let kind):
      let isError = ActionKind.isError(kind: kind)
      let colour = isError ? Palette.error : Palette.colour(of: ActionKind.domain(of: kind))
      return Line.Span(Self.plain(kind).text, Style(colour))
    case .row(let cells, let separator, let mood):
      let texts = cells.map(\.span.text).filter { !$0.isEmpty }
      return Line.Span(texts.joined(separator: separator), mood.style)
    case .first(let cells):
      return cells.lazy.map(\.span).first { !$0.text.isEmpty } ?? Line.Span("")
    }
  }

  private static func plain(_ text: String, _ mood: Mood = .plain) -> Line.Span {
    Line.Span(Plain.line(text, limit: longest), mood.style)
  }
}

extension Cell.Mood {
  /// What it looks like.
  public var style: Style {
    switch self {
    case .plain: .plain
    case .faint: .dim
    case .good: Style.positive
    case .odd: Style.warning
    case .bad: Style.error
    }
  }
}
