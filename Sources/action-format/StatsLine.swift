import Core
import Records
import Screen

/// The counters of the server on one line: cost first, then what is going on,
/// then how often each kind happened.
enum StatsLine {
  /// - Parameters:
  ///   - stats: what the server sent last.
  ///   - now: the day of UTC in it is the day of `today`.
  ///   - age: how old the stats are, seconds; old ones are marked.
  static func line(_ stats: ActionStats, now: Timestamp, age: Int64 = 0) -> Line {
    var parts: [[Line.Span]] = []
    func part(_ spans: Line.Span...) { parts.append(spans) }
    if stats.isReady == false { part(Line.Span("not connected", Style(Palette.error, bold: true))) }
    if age >= 15 { part(Line.Span("\(age)s old", Style(Palette.warning))) }
    if let today = stats.cost(of: String(now.rfc3339.prefix(10))) {
      part(Line.Span("today ", .dim), Line.Span(money(today), .bold))
    }
    if let total = stats.totalCost {
      let bars = Spark.line(stats.dailyCosts.prefix(14).reversed().map(\.cost))
      part(
        Line.Span("total ", .dim), Line.Span(money(total)),
        Line.Span(stats.dailyCosts.count > 1 ? " " + bars : "", Style(Palette.tool)))
    }
    if let sessions = stats.voiceSessions, sessions > 0 {
      part(Line.Span("\(sessions) in voice", Style(Palette.positive)))
    }
    if let pending = stats.pendingReplies, pending > 0 {
      part(Line.Span("\(pending) waiting", Style(Palette.warning)))
    }
    if let median = stats.medianReply {
      part(Line.Span("reply ", .dim), Line.Span(Amount.duration(median)))
    }
    for entry in ordered(stats.counts) where entry.count != 0 {
      let isError = ActionKind.isError(kind: entry.kind)
      part(
        Line.Span(Plain.line(entry.kind, limit: 100) + " ", isError ? Style(Palette.error) : .dim),
        Line.Span("\(entry.count)", isError ? Style(Palette.error, bold: true) : .plain))
    }
    var line = Line()
    for (index, spans) in parts.enumerated() {
      if index > 0 { line.add(" · ", .dim) }
      for span in spans { line.add(span.text, span.style) }
    }
    return line
  }

  /// Failures first, then the most frequent; ties in the server's order.
  private static func ordered(_ counts: [ActionStats.Count]) -> [ActionStats.Count] {
    counts.enumerated().sorted { a, b in
      let (x, y) = (
        ActionKind.isError(kind: a.element.kind), ActionKind.isError(kind: b.element.kind)
      )
      if x != y { return x }
      return a.element.count != b.element.count
        ? a.element.count > b.element.count : a.offset < b.offset
    }.map(\.element)
  }

  private static func money(_ dollars: Double) -> String { "$" + Amount.fixed(dollars, 2) }
}
