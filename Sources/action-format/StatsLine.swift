import Core
import Records
import Screen

struct ShownCounts {
  /// Kinds that are told apart; of those that come later only the sum is known.
  private static let most = 1000
  private(set) var total = 0
  private(set) var kinds: [String: Int] = [:]

  mutating func add(_ kind: String) {
    total += 1
    if kinds[kind] != nil || kinds.count < Self.most { kinds[kind, default: 0] += 1 }
  }
}

/// One line below the rows: what the server tells of cost and of what is going on,
/// then how often each kind is among the rows.
enum StatsLine {
  /// What the server tells.
  static func line(_ stats: ActionStats, now: Timestamp, age: Int64 = 0) -> Line {
    var parts: [[Line.Span]] = []
    func part(_ spans: Line.Span...) { parts.append(spans.filter { !$0.text.isEmpty }) }
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
    return parts.reduce(Line()) { joined($0, Line($1)) }
  }

  static func line(_ shown: ShownCounts) -> Line {
    guard shown.total > 0 else { return Line() }
    var line = Line([Line.Span("\(shown.total)"), Line.Span(" shown", .dim)])
    for (kind, count) in ordered(shown.kinds) {
      let isError = ActionKind.isError(kind: kind)
      let name = kind.isEmpty ? "(no kind)" : Plain.line(kind, limit: 100)
      let spans = [
        Line.Span(name + " ", isError ? Style(Palette.error) : .dim),
        Line.Span("\(count)", isError ? Style(Palette.error, bold: true) : .plain),
      ]
      line = joined(line, Line(spans))
    }
    return line
  }

  static func joined(_ one: Line, _ other: Line) -> Line {
    if one.spans.isEmpty || other.spans.isEmpty { return Line(one.spans + other.spans) }
    var line = one
    line.add(" · ", .dim)
    line.add(other)
    return line
  }

  /// Failures first, then the most frequent; ties by name.
  private static func ordered(_ kinds: [String: Int]) -> [(key: String, value: Int)] {
    kinds.sorted { a, b in
      let (x, y) = (ActionKind.isError(kind: a.key), ActionKind.isError(kind: b.key))
      if x != y { return x }
      return a.value != b.value ? a.value > b.value : a.key < b.key
    }
  }

  private static func money(_ dollars: Double) -> String { "$" + Amount.fixed(dollars, 2) }
}
