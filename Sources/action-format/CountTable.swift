import Core
import Records
import Screen

enum CountForm: String, CaseIterable, Sendable {
  case text
  case tsv
  case spark
}

/// The records of `action-filter --by` that belong together: groups by the same keys,
/// and what they come to, behind them.
struct CountTable {
  private struct Group {
    let names: [Line.Span]
    let time: Timestamp?
    let count: Double
    let cost: Double
    let countText: Line.Span
    let costText: Line.Span
    let tokens: [Line.Span]
  }

  private static let sums = ["count", "usd_cost"]
  private static let tokens = ["input_tokens", "output_tokens"]
  private static let kinds = ["cache_write_5m", "cache_write_1h", "cache_read"]
  /// What there is besides where transcripts were read.
  private static let details =
    kinds.map { "\($0)_tokens" } + ["web_searches"]
    + (["input", "output"] + kinds + ["web_search"]).map { "\($0)_usd" } + ["unpriced"]

  private let keys: [String]
  private let isUsage: Bool
  private let isDetailed: Bool
  private let hasTitles: Bool
  private var groups: [Group] = []
  private var total: Group?

  init(_ first: JSONValue) {
    isUsage = Self.tokens.allSatisfy { first[$0] != nil }
    isDetailed = isUsage && first["prices"] != nil && Self.details.allSatisfy { first[$0] != nil }
    hasTitles = isDetailed && first["title"] != nil
    var others = ["type"] + Self.sums + Self.tokens
    if isDetailed { others += Self.details + ["prices", "title"] }
    keys = first.members.map(\.name).filter { !others.contains($0) }
  }

  /// The members of a record, in the order of a line of TSV.
  var fields: [String] { keys + (hasTitles ? ["title"] : []) + values }

  private var values: [String] {
    Self.sums + (isUsage ? Self.tokens : []) + (isDetailed ? Self.details : [])
  }

  /// Takes a record; one with other members begins another table, as does one behind
  /// the sum of all. Returns whether it was taken.
  mutating func add(_ record: JSONValue, _ told: Names) -> Bool {
    let unlisted = isDetailed ? 2 : 1
    let isTotal = record.members.count == values.count + unlisted
    guard total == nil, isTotal || record.members.count == fields.count + unlisted,
      (isTotal ? values : fields).allSatisfy({ record[$0] != nil }), let count = record["count"]
    else { return false }
    let cost = record["usd_cost"]
    var costText = cost?.number == 0 ? Line.Span("") : Cell.money(cost).span
    if record["unpriced"]?.elements.isEmpty == false {
      costText = Line.Span(
        costText.text.isEmpty ? "no price" : (isTotal ? "at least " : "≥") + costText.text)
    }
    let written = Self.kinds.dropLast().reduce(0) { $0 + (record["\($1)_tokens"]?.number ?? 0) }
    let cached = isDetailed ? [written, record["cache_read_tokens"]?.number ?? 0] : []
    let group = Group(
      names: isTotal
        ? []
        : keys.map { name in
          let title = name == "session" ? record["title"]?.string : nil
          return title.map { Cell.words($0).span } ?? Self.name(record[name], of: name, told)
        },
      time: keys.lazy.compactMap { key in CountTime(key).flatMap { _ in record[key]?.time } }.first,
      count: count.number ?? 0, cost: cost?.number ?? 0, countText: Cell.text(count).span,
      costText: costText,
      tokens: (isUsage ? Self.tokens.map { Self.amount(record[$0]) } : []) + cached.map(Self.amount)
    )
    if isTotal { total = group } else { groups.append(group) }
    return true
  }

  private static func name(_ value: JSONValue?, of key: String, _ told: Names) -> Line.Span {
    guard let text = value?.text else {
      let none = CountTime(key) == nil ? "(none)" : "no date"
      return value?.isNull == true ? Line.Span(none, .dim) : Cell.text(value).span
    }
    if key == "user" || key == "guild", let name = told[text] { return Cell.words(name).span }
    if let unit = CountTime(key), let time = value?.time { return Line.Span(unit.text(time)) }
    return key == "kind" ? Cell.kind(text).span : Cell.text(value).span
  }

  private static func amount(_ value: JSONValue?) -> Line.Span {
    guard let number = value?.number else { return Cell.text(value).span }
    return amount(number)
  }

  private static func amount(_ number: Double) -> Line.Span {
    Line.Span(number == 0 ? "" : Amount.count(number))
  }

  // MARK: - A table

  /// The table's lines.
  func lines(width: Int?, depth: ColourDepth) -> [String] {
    // What is of everything has no key to stand below.
    let labels = keys.isEmpty ? [""] : keys
    let numbers =
      !isUsage
      ? ["count"] : ["calls", "in", "out"] + (isDetailed ? ["cache write", "cache read"] : [])
    let headings = labels.map { Plain.line($0, limit: 100) } + numbers + ["share", "cost", ""]
    let weights = groups.map(weight)
    let sum = weights.reduce(0) { $0 + max(0, $1) }
    let hasShare = !isUsage || width ?? .max >= 60
    var rows = zip(groups, weights).map { group, weight in
      group.names + [group.countText] + group.tokens + [
        Line.Span(hasShare ? Self.share(weight, of: sum) : ""), group.costText,
      ]
    }
    if let total {
      let blank = repeatElement(Line.Span(""), count: labels.count - 1)
      let row = [Line.Span("total")] + blank + [total.countText] + total.tokens
      rows.append((row + [Line.Span(""), total.costText]).map { Line.Span($0.text, .bold) })
    }
    // What the other columns leave, with the gaps between them.
    let used = headings.dropLast().enumerated().reduce(0) { sum, heading in
      let widest = rows.reduce(0) { max($0, $1[heading.offset].cells) }
      let isShown = widest > 0
      return isShown ? max(widest, CellWidth.of(heading.element)) + 2 + sum : sum
    }
    let most = weights.max() ?? 0
    for index in rows.indices {
      let weight = index < weights.count ? weights[index] : 0
      let bar = Bar.text(weight, of: most, cells: min(30, (width ?? .max) - used))
      rows[index].append(Line.Span(bar, Style.tool))
    }
    var table = Table(
      headings.enumerated().map { column, heading in
        Table.Column(
          title: heading, isRight: labels.count..<headings.count - 1 ~= column,
          gives: column < labels.count)
      }, width: width, depth: depth)
    return table.lines(rows)
  }

  /// What the bar of a group shows: what it cost, where that is asked for and known.
  private func weight(_ group: Group) -> Double { showsCost ? group.cost : group.count }

  private var showsCost: Bool { isUsage && groups.contains { $0.cost > 0 } }

  private static func share(_ weight: Double, of total: Double) -> String {
    guard weight > 0, total > 0 else { return "" }
    let percent = weight / total * 100
    return percent < 1 ? "<1%" : Amount.fixed(percent, 0) + "%"
  }

  // MARK: - A line of bars

  private static let mostBars = 60

  /// A bar for each group, or for each time if they are counted by one, and the time
  /// from the first to the last. Neighbours are added together where there is not
  /// enough room.
  func spark(width: Int?) -> Line {
    var values: [Double] = []
    var times: [Timestamp] = []
    for group in groups {
      if let time = group.time, time == times.last {
        values[values.count - 1] += weight(group)
      } else if group.time != nil || times.isEmpty {
        values.append(weight(group))
        if let time = group.time { times.append(time) }
      }
    }
    let label = times.isEmpty ? "" : "  " + span(times)
    let room = max(1, min(Self.mostBars, (width ?? .max) - CellWidth.of(label)))
    let count = min(room, values.count)
    let bars = (0..<count).map { bar in
      values[bar * values.count / count..<(bar + 1) * values.count / count].reduce(0, +)
    }
    var line = Line(Spark.line(bars), Style.tool)
    line.add(label)
    return line
  }

  private func span(_ times: [Timestamp]) -> String {
    guard let unit = keys.lazy.compactMap({ CountTime($0) }).first, let first = times.first,
      let last = times.last
    else { return "" }
    let (from, to) = (unit.text(first), unit.text(last))
    if from == to { return from }
    // Of one day, the day is said once.
    let isOneDay = from.utf8.count > 10 && from.prefix(11) == to.prefix(11)
    return from + " to " + (isOneDay ? String(to.dropFirst(11)) : to)
  }
}

enum CountTime: String {
  case minute, hour, day, week, month

  init?(_ key: String) { self.init(rawValue: key) }

  /// `2026-03-01 10:00`, or the date or the month alone.
  func text(_ time: Timestamp) -> String {
    let whole = TimeText.absolute(time)
    switch self {
    case .minute, .hour: return String(whole.prefix(16))
    case .day, .week: return String(whole.prefix(10))
    case .month: return String(whole.prefix(7))
    }
  }
}

extension CountTable {
  /// The line of a record as TSV, with times of the user's zone where they are wanted.
  static func tsv(_ record: [UInt8], _ fields: [String], isLocal: Bool) -> String {
    fields.map { field in
      let value = RowText.tsv(record, fields: [field])
      guard isLocal, let unit = CountTime(field) else { return value }
      return Timestamp(rfc3339: value).map(unit.text) ?? value
    }.joined(separator: "\t")
  }
}
