import Agent
import Core
import Records
import Screen

/// Facts as a person reads them: short members in columns, the fact beside them
/// broken to the width, its evidence below it.
struct FactRows {
  /// The cells between two columns.
  private static let gap = 2
  /// Where less is left for the fact, it goes below its other members.
  private static let leastFact = 28
  /// Longer members are cut here, cells.
  private static let longest = 24

  private let width: Int?
  private let facts: [Fact]
  private let columns: [Column]

  private struct Column {
    let title: String
    var isRight = false
    var style = Style.plain
    let text: (Fact) -> String
    var cells = 0
  }

  init(_ facts: [Fact], width: Int?) {
    (self.facts, self.width) = (facts, width)
    columns = Self.all.compactMap { column in
      var column = column
      let widest = facts.map { CellWidth.of(column.text($0)) }.max() ?? 0
      if widest == 0 { return nil }
      column.cells = max(widest, CellWidth.of(column.title))
      return column
    }
  }

  private static var all: [Column] {
    [
      Column(title: "ID", isRight: true, style: .dim) { short($0.id) },
      Column(title: "SCORE", isRight: true) { $0.score.map { Amount.fixed($0, 3) } ?? "" },
      Column(title: "GUILD", style: .dim) {
        // One of a person is found through any guild.
        $0.guildName.map { $0.isEmpty ? "(person)" : short($0) } ?? ""
      },
      Column(title: "SUBJECT") { short($0.subjectName ?? $0.subject) },
      Column(title: "TYPE", style: Style(Palette.colour(of: .memory))) { short($0.type) },
      Column(title: "CONF", isRight: true) { $0.confidence.map { Amount.fixed($0, 2) } ?? "" },
    ]
  }

  private static func short(_ text: String) -> String {
    Fit.truncate(Plain.line(text, limit: 200), to: longest)
  }

  /// The lines.
  func lines(heading: Bool = true) -> [Line] {
    if facts.isEmpty { return [] }
    let left = columns.reduce(0) { $0 + $1.cells + Self.gap }
    guard let width else { return beside(nil, heading: heading) }
    return width - left >= Self.leastFact ? beside(width - left, heading: heading) : below(width)
  }

  private func beside(_ room: Int?, heading: Bool) -> [Line] {
    var lines: [Line] = []
    if heading {
      var line = Line()
      for column in columns { add(column, column.title, .bold, to: &line) }
      line.add("FACT", .bold)
      lines.append(line)
    }
    let blank = Fit.spaces(columns.reduce(0) { $0 + $1.cells + Self.gap })
    for fact in facts {
      var line = Line()
      for column in columns { add(column, column.text(fact), column.style, to: &line) }
      for (index, text) in Self.body(fact, room).enumerated() {
        if index > 0 { line = Line([Line.Span(blank)]) }
        line.spans.append(text)
        lines.append(line)
      }
    }
    return lines
  }

  private func below(_ width: Int) -> [Line] {
    facts.flatMap { fact in
      var head = Line()
      for column in columns {
        let text = column.text(fact)
        if text.isEmpty { continue }
        if !head.spans.isEmpty { head.add(" ") }
        head.add(text, column.style == .plain ? .dim : column.style)
      }
      let body = Self.body(fact, max(width - 2, 2)).map { Line([Line.Span("  "), $0]) }
      return [head.cut(to: width)] + body
    }
  }

  private static func body(_ fact: Fact, _ room: Int?) -> [Line.Span] {
    func broken(_ text: String, _ style: Style) -> [Line.Span] {
      Paragraph.wrap(Plain.line(text, limit: Cell.longest), to: room).map { Line.Span($0, style) }
    }
    var lines = broken(fact.fact, .plain)
    if let evidence = fact.evidence { lines += broken("“\(evidence)”", .dim) }
    if let reason = fact.reason { lines += broken("(\(reason))", .dim) }
    return lines
  }

  private func add(_ column: Column, _ text: String, _ style: Style, to line: inout Line) {
    let rest = Fit.spaces(column.cells - CellWidth.of(text))
    line.add((column.isRight ? rest : ""))
    line.add(text, style)
    line.add((column.isRight ? "" : rest) + Fit.spaces(Self.gap))
  }
}

extension RowOutput {
  /// Writes facts; what is none is shown as it is.
  func facts(_ rows: [[UInt8]]) throws(WriteFailure) {
    try records(
      rows, fields: FactRows.fields(of: rows), tsv: { [FactRows.tsv($0)] }, lines: FactRows.lines)
  }
}

extension FactRows {
  /// The names of what `-o tsv` writes; of several guilds, the guild's name follows.
  static let fields = [
    "id", "subject", "fact_type", "confidence", "fact", "evidence_text", "scope", "guild_id",
    "channel_id", "user_id", "source_message_id", "created_at", "updated_at", "score",
  ]

  /// Those of rows, which all name their guilds or none does.
  fileprivate static func fields(of rows: [[UInt8]]) -> [String] {
    let guild = rows.first.flatMap { row in Fact(record: row)?.guildName }
    return fields + (guild == nil ? [] : ["guild_name"])
  }

  static func tsv(_ row: [UInt8]) -> String {
    Fact(record: row)?.tsv ?? RowText.escape(String(decoding: RowText.line(row), as: UTF8.self))
  }

  static func lines(_ rows: [[UInt8]], width: Int?) -> [Line] {
    var facts: [Fact] = []
    var odd: [Line] = []
    for row in rows {
      if let fact = Fact(record: row) {
        facts.append(fact)
      } else {
        let text = String(decoding: RowText.line(row), as: UTF8.self)
        odd.append(Line(Plain.line(text, limit: Cell.longest)))
      }
    }
    return FactRows(facts, width: width).lines() + odd
  }
}

extension Fact {
  /// The values that `-o tsv` writes, with tabs between them.
  var tsv: String {
    let score = self.score.map { "\($0)" }
    let values: [String?] = [
      id, subject, type, confidenceText, fact, evidence, scope, guildID, channelID, userID,
      sourceMessageID, createdAt, updatedAt, score,
    ]
    let named = guildName.map { [$0] } ?? []
    return (values + named).map { RowText.escape($0 ?? "") }.joined(separator: "\t")
  }
}

extension FactRows {
  static func section(_ title: String, _ values: [JSONValue], width: Int?) -> [Line] {
    if values.isEmpty { return [] }
    let facts = values.compactMap { Fact($0) }
    let odd = values.filter { Fact($0) == nil }.flatMap { value in
      Paragraph.wrap(Plain.line(value.compact(limit: Cell.longest)), to: width).map { Line($0) }
    }
    return heading(title, values.count) + FactRows(facts, width: width).lines(heading: false) + odd
  }

  static func section(
    _ title: String, _ texts: [(head: String, text: String)], width: Int?
  ) -> [Line] {
    if texts.isEmpty { return [] }
    return heading(title, texts.count)
      + texts.flatMap { entry in
        let room = width.map { max($0 - 2, 2) }
        let head = entry.head.isEmpty ? [] : [Line(Plain.line(entry.head, limit: 400), .dim)]
        return head
          + Paragraph.wrap(Plain.line(entry.text, limit: Cell.longest), to: room).map {
            Line([Line.Span("  "), Line.Span($0)])
          }
      }
  }

  private static func heading(_ title: String, _ count: Int) -> [Line] {
    [Line(), Line([Line.Span(title, .bold), Line.Span(" (\(count))", .dim)])]
  }
}
