import Core
public import Records

/// How a cell looks.
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
      guard let time = value?.string.flatMap({ Timestamp(rfc3339: $0) }) else {
        return Cell.text(value).span
      }
      return Line.Span(TimeText.absolute(time, zone: TimeText.local), .dim)
    case .age(let value, let now):
      let time = value?.string.flatMap { Timestamp(rfc3339: $0) }
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
    case .good: Style(Palette.positive)
    case .odd: Style(Palette.warning)
    case .bad: Style(Palette.error)
    }
  }
}
