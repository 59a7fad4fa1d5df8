import Core
import Records
import Screen

/// The records of `action-filter --by` as a table with a bar for each.
struct CountTable {
  private struct Group {
    /// What its actions have in common.
    let names: [Line.Span]
    let count: Double
    let countText: Line.Span
    let cost: Line.Span
  }

  /// The members that tell the groups apart.
  private let titles: [String]
  private var groups: [Group] = []

  /// - Parameter first: a record with the members that all of them have.
  init(_ first: JSONValue) {
    titles = first.members.map(\.name).filter { !["type", "count", "usd_cost"].contains($0) }
  }

  /// Takes a record; one with other members begins another table.
  ///
  /// - Returns: whether it was taken.
  mutating func add(_ record: JSONValue) -> Bool {
    guard record.members.count == titles.count + 3,
      titles.allSatisfy({ record[$0] != nil }), let count = record["count"]
    else { return false }
    let cost = record["usd_cost"]
    groups.append(
      Group(
        names: titles.map { Self.name(record[$0], of: $0) }, count: count.number ?? 0,
        countText: Cell.text(count).span,
        cost: cost?.number == 0 ? Line.Span("") : Cell.money(cost).span))
    return true
  }

  private static func name(_ value: JSONValue?, of title: String) -> Line.Span {
    guard let text = value?.text else {
      return value?.isNull == true ? Line.Span("(none)", .dim) : Cell.text(value).span
    }
    switch title {
    case "hour": return Line.Span(Cell.time(value).span.text)
    case "kind": return Cell.kind(text).span
    default: return Cell.text(value).span
    }
  }

  /// The table's lines.
  ///
  /// - Parameters:
  ///   - width: the most cells of a line; nil for no limit.
  ///   - depth: the colours that the terminal knows.
  func lines(width: Int?, depth: ColourDepth) -> [String] {
    let headings = titles.map { Plain.line($0, limit: 100) } + ["count", "share", "cost", ""]
    let total = groups.reduce(0) { $0 + max(0, $1.count) }
    let most = groups.map(\.count).max() ?? 0
    var rows = groups.map { group in
      group.names + [
        group.countText, Line.Span(Self.share(group.count, of: total)), group.cost,
      ]
    }
    // What the other columns leave, with the gaps between them.
    let used = headings.dropLast().enumerated().reduce(0) { sum, heading in
      rows.reduce(CellWidth.of(heading.element)) { max($0, $1[heading.offset].cells) } + 2 + sum
    }
    for (index, group) in groups.enumerated() {
      let bar = Bar.text(group.count, of: most, cells: min(30, (width ?? .max) - used))
      rows[index].append(Line.Span(bar, Style(Palette.tool)))
    }
    var table = Table(
      headings.enumerated().map { column, heading in
        Table.Column(
          title: heading, isRight: titles.count..<titles.count + 3 ~= column,
          gives: column < titles.count)
      }, width: width, depth: depth)
    return table.lines(rows)
  }

  private static func share(_ count: Double, of total: Double) -> String {
    guard count > 0, total > 0 else { return "" }
    let percent = count / total * 100
    return percent < 1 ? "<1%" : Amount.fixed(percent, 0) + "%"
  }
}
