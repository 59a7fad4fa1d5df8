import Agent
import Core
import Screen

struct LatencyPanel: Panel {
  static let name = "latency", title = "Latency"

  /// A total above this is slow, whatever is usual.
  static let slowTotal = 2000.0
  static let stages = ["to ASR", "to gen", "to reply", "to audio", "total"]
  private static let most = 8

  enum Grade {
    case good, ok, bad

    /// Without an average everything is good; a total warns above two seconds.
    init(_ value: Double, average: Double?, isTotal: Bool) {
      let ratio = average.flatMap { $0 > 0 ? value / $0 : nil } ?? 1
      self = ratio <= 1.3 ? .good : ratio <= 2 ? .ok : .bad
      if self == .good, isTotal, value > LatencyPanel.slowTotal { self = .ok }
    }

    var style: Style { self == .good ? .positive : self == .ok ? .warning : .error }

    /// One cell, so that no colour is needed.
    var mark: String { self == .good ? " " : self == .ok ? "+" : "!" }
  }

  private let latency: VoiceLatency
  private let turns: [VoiceLatency.Turn]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let latency = session.latency else { return nil }
    turns = latency.recentTurns.filter { !$0.stages.isUnknown }
    if turns.isEmpty, latency.averages.isUnknown { return nil }
    (self.latency, self.now) = (latency, now)
  }

  var note: Line {
    Line {
      let last = turns.first?.stages.totalMs
      if let last {
        let slow = last > Self.slowTotal ? " slow" : ""
        ("last " + Amount.duration(last) + slow).styled(grade(last, 4).style)
      }
      latency.medians[4].map { ((last == nil ? "" : ", ") + "median " + Amount.duration($0)).dim }
    }
  }

  func lines(width: Int) -> [Line] {
    width >= LatencyTable.leastWidth ? table(width) : waterfall(width)
  }

  private var shown: ArraySlice<VoiceLatency.Turn> { turns.prefix(Self.most) }

  private func grade(_ value: Double, _ stage: Int) -> Grade {
    Grade(value, average: latency.averages.all[stage], isTotal: stage == 4)
  }

  private func age(_ turn: VoiceLatency.Turn) -> String { Age.text(turn.at, at: now) ?? "-" }

  /// The cells of the widest age; `average` has seven.
  private var leadCells: Int { shown.map { CellWidth.of(age($0)) }.reduce(7, max) }

  private var most: (stage: Double, total: Double) {
    let all = shown.map(\.stages.all) + [latency.averages.all]
    return (
      all.flatMap { $0.prefix(4) }.compactMap { $0 }.max() ?? 0,
      all.compactMap { $0[4] }.max() ?? 0
    )
  }

  private func table(_ width: Int) -> [Line] {
    var table = LatencyTable(
      width: width, leadCells: leadCells, most: most.stage, mostTotal: most.total)
    var lines = [table.header(Self.stages)]
    for turn in shown {
      let values = turn.stages.all.enumerated().map { stage, value in
        value.map { ($0, grade($0, stage)) }
      }
      lines.append(table.row(age(turn), .plain, values))
    }
    lines.append(table.row("median", .dim, latency.medians.map { $0.map { ($0, nil) } }))
    lines.append(table.row("average", .dim, latency.averages.all.map { $0.map { ($0, nil) } }))
    return table.hasMarks ? lines + [legend(width)] : lines
  }

  /// For narrow screens: the stages of the last answer below each other, each
  /// beginning where the one before ended, then the totals of the answers before.
  private func waterfall(_ width: Int) -> [Line] {
    var rows = LatencyWaterfall(
      width: width, leadCells: leadCells, most: max(most.stage, most.total))
    for (index, turn) in shown.enumerated() {
      let all = turn.stages.all
      let grades = all.indices.map { stage in all[stage].map { grade($0, stage) } }
      let count = index == 0 ? all.count : 1
      rows.add(age(turn), Self.stages.suffix(count), all.suffix(count), grades.suffix(count))
    }
    rows.add("median", Self.stages, latency.medians, [])
    rows.add("average", Self.stages.suffix(1), latency.averages.all.suffix(1), [])
    return rows.hasMarks ? rows.lines + [legend(width)] : rows.lines
  }

  private func legend(_ width: Int) -> Line {
    let text = "+ over 1.3 times its average, ! over twice; total + over 2s"
    return Line(width >= 60 ? text : "+ over 1.3x, ! over 2x its average", .dim).cut(to: width)
  }
}

/// The rows of the latency panel: an age, and for each stage a bar and a number
/// that stand below those of the other rows.
struct LatencyTable {
  /// Narrower than this, the bars would say nothing.
  static let leastWidth = 60

  private static let numberCells = 5

  private let width: Int
  private let leadCells: Int
  private let most: Double
  private let mostTotal: Double
  private let widths: [Int]
  /// Whether a mark was set that wants to be explained.
  private(set) var hasMarks = false

  init(width: Int, leadCells: Int, most: Double, mostTotal: Double) {
    (self.width, self.leadCells, self.most, self.mostTotal) = (width, leadCells, most, mostTotal)
    // A blank before each stage and the cell of a mark after it.
    widths = Columns.widths(5, width: width - leadCells - 10, gap: 0)
  }

  func header(_ names: [String]) -> Line {
    var line = Line(Fit.spaces(leadCells))
    for (name, cells) in zip(names, widths) {
      line.add(" " + Fit.padStart(Fit.truncate(name, to: cells), to: cells) + " ", .dim)
    }
    return line.cut(to: width)
  }

  /// An age or a name, and for each stage milliseconds and how good they are; `style` is that
  /// of the numbers that have no grade.
  mutating func row(
    _ lead: String, _ style: Style, _ values: [(Double, LatencyPanel.Grade?)?]
  ) -> Line {
    var line = Line(Fit.padStart(lead, to: leadCells), .dim)
    for (stage, (value, cells)) in zip(values, widths).enumerated() {
      line.add(" ")
      guard let (milliseconds, grade) = value else {
        line.add(Fit.padStart("-", to: cells) + " ", .dim)
        continue
      }
      let number = Fit.truncate(Amount.duration(milliseconds), to: cells)
      let numberCells = max(Self.numberCells, CellWidth.of(number))
      let look = grade?.style ?? style
      let bar = Bar.text(
        milliseconds, of: stage == 4 ? mostTotal : most, cells: cells - numberCells - 1)
      line.add(bar, look)
      line.add(Fit.spaces(cells - CellWidth.of(bar) - CellWidth.of(number)))
      line.add(number, look)
      line.add(grade?.mark ?? " ", look)
      if grade == .ok || grade == .bad { hasMarks = true }
    }
    return line.cut(to: width)
  }
}

/// The rows of the latency panel on a narrow screen: a stage each, its bar
/// beginning where the bar of the stage before ended.
struct LatencyWaterfall {
  private static let labelCells = 9
  /// Narrower than this, age and stage share a column.
  private static let tightWidth = 32

  private let width: Int
  private let leadCells: Int
  private let most: Double
  private(set) var lines: [Line] = []
  /// Whether a mark was set that wants to be explained.
  private(set) var hasMarks = false

  init(width: Int, leadCells: Int, most: Double) {
    (self.width, self.leadCells, self.most) = (width, leadCells, most)
  }

  /// Adds the rows of one answer: an age or a name before the first, the names of the stages,
  /// the last of which is the total, their milliseconds, and how good they are, if anybody can
  /// tell.
  mutating func add(
    _ lead: String, _ labels: some Collection<String>, _ values: some Collection<Double?>,
    _ grades: some Collection<LatencyPanel.Grade?>
  ) {
    var start = 0.0
    var grades = grades.makeIterator()
    for (index, (label, value)) in zip(labels, values).enumerated() {
      let isTotal = index == labels.count - 1
      let isTight = width < Self.tightWidth
      // In a shared column the age stands at the total, where it is looked for.
      let hasLead = isTight ? isTotal : index == 0
      var line = Line()
      if !isTight { line.add(Fit.padEnd(hasLead ? lead + " " : "", to: leadCells + 1), .dim) }
      line.add(Fit.padEnd(isTight && hasLead ? lead + " " : label, to: Self.labelCells), .dim)
      let grade = grades.next() ?? nil
      let style = grade?.style ?? .plain
      line.add(
        Fit.padStart(value.map { Amount.duration($0) } ?? "-", to: 6), value == nil ? .dim : style)
      line.add((grade?.mark ?? " ") + " ", style)
      if grade == .ok || grade == .bad { hasMarks = true }
      add(value, from: isTotal ? 0 : start, grade?.style ?? .dim, to: &line)
      start += max(value ?? 0, 0)
      lines.append(line.cut(to: width))
    }
  }

  private func add(_ value: Double?, from start: Double, _ style: Style, to line: inout Line) {
    let room = width - line.cells
    guard room > 0, most > 0, let value, value > 0 else { return }
    // The last cell is kept for a bar that begins at the end.
    let skipped = min(Int(min(start / most, 1) * Double(room)), room - 1)
    line.add(Fit.spaces(skipped))
    line.add(String(Bar.text(value, of: most, cells: room).prefix(room - skipped)), style)
  }
}
