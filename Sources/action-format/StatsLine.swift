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

  /// How often each kind is among the rows: failures first, then the most frequent; ties by name.
  var line: Line {
    guard total > 0 else { return Line() }
    let ordered = kinds.sorted { a, b in
      let (x, y) = (ActionKind.isError(kind: a.key), ActionKind.isError(kind: b.key))
      if x != y { return x }
      return a.value != b.value ? a.value > b.value : a.key < b.key
    }
    return ordered.reduce(Line([Line.Span("\(total)"), Line.Span(" shown", .dim)])) { line, kind in
      let isError = ActionKind.isError(kind: kind.key)
      let name = kind.key.isEmpty ? "(no kind)" : Plain.line(kind.key, limit: 100)
      return line.joined(
        Line([
          Line.Span(name + " ", isError ? Style.error : .dim),
          Line.Span("\(kind.value)", isError ? Style(Palette.error, bold: true) : .plain),
        ]))
    }
  }
}

extension ActionStats {
  /// What the server tells.
  func line(now: Timestamp, age: Int64 = 0) -> Line {
    var parts: [[Line.Span]] = []
    func part(_ spans: Line.Span...) { parts.append(spans.filter { !$0.text.isEmpty }) }
    if isReady == false { part(Line.Span("not connected", Style(Palette.error, bold: true))) }
    if age >= 15 { part(Line.Span("\(age)s old", Style.warning)) }
    if let today = cost(of: String(now.rfc3339.prefix(10))) {
      part(Line.Span("today ", .dim), Line.Span(money(today), .bold))
    }
    if let totalCost {
      let bars = Spark.line(dailyCosts.prefix(14).reversed().map(\.cost))
      part(
        Line.Span("total ", .dim), Line.Span(money(totalCost)),
        Line.Span(dailyCosts.count > 1 ? " " + bars : "", Style.tool))
    }
    if let sessions = voiceSessions, sessions > 0 {
      part(Line.Span("\(sessions) in voice", Style.positive))
    }
    if let pending = pendingReplies, pending > 0 {
      part(Line.Span("\(pending) waiting", Style.warning))
    }
    if let median = medianReply {
      part(Line.Span("reply ", .dim), Line.Span(Amount.duration(median)))
    }
    return parts.reduce(Line()) { $0.joined(Line($1)) }
  }

  private func money(_ dollars: Double) -> String { "$" + Amount.fixed(dollars, 2) }
}
