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
    // Narrower than this, the bars of a table would say nothing.
    width >= 60 ? table(width) : waterfall(width)
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

  /// An age in each row, and for each stage a bar and a number that stand below those of the
  /// other rows.
  private func table(_ width: Int) -> [Line] {
    let leadCells = leadCells
    let most = most
    // A blank before each stage and the cell of a mark after it.
    let widths = Columns.widths(5, width: width - leadCells - 10, gap: 0)
    var header = Line(Fit.spaces(leadCells))
    for (name, cells) in zip(Self.stages, widths) {
      header.add(" " + Fit.padStart(Fit.truncate(name, to: cells), to: cells) + " ", .dim)
    }
    func row(_ lead: String, _ values: [Double?], isGraded: Bool = false) -> Line {
      var line = Line(Fit.padStart(lead, to: leadCells), .dim)
      for (stage, (value, cells)) in zip(values, widths).enumerated() {
        line.add(" ")
        guard let value else {
          line.add(Fit.padStart("-", to: cells) + " ", .dim)
          continue
        }
        let grade = isGraded ? self.grade(value, stage) : nil
        let style = grade?.style ?? .dim
        let number = Fit.truncate(Amount.duration(value), to: cells)
        let room = cells - max(5, CellWidth.of(number)) - 1
        let bar = Bar.text(value, of: stage == 4 ? most.total : most.stage, cells: room)
        line.add(bar, style)
        line.add(Fit.spaces(cells - CellWidth.of(bar) - CellWidth.of(number)))
        line.add(number, style)
        line.add(grade?.mark ?? " ", style)
      }
      return line.cut(to: width)
    }
    return [header.cut(to: width)]
      + shown.map { row(age($0), $0.stages.all, isGraded: true) }
      + [row("median", latency.medians), row("average", latency.averages.all)]
      + legend(width, shown.map { ($0, 0) })
  }

  /// For narrow screens: the stages of the last answer below each other, each beginning where the
  /// one before ended, then the totals of the answers before.
  private func waterfall(_ width: Int) -> [Line] {
    let leadCells = leadCells
    let most = max(most.stage, most.total)
    // Narrower than this, age and stage share a column.
    let isTight = width < 32
    func rows(
      _ lead: String, _ values: [Double?], from first: Int = 0, isGraded: Bool = false
    ) -> [Line] {
      var start = 0.0
      return (first..<values.count).map { stage in
        let value = values[stage]
        let isTotal = stage == 4
        let grade = isGraded ? value.map { self.grade($0, stage) } : nil
        // In a shared column the age stands at the total, where it is looked for.
        let hasLead = isTight ? isTotal : stage == first
        var line = Line()
        if !isTight { line.add(Fit.padEnd(hasLead ? lead + " " : "", to: leadCells + 1), .dim) }
        line.add(Fit.padEnd(isTight && hasLead ? lead + " " : Self.stages[stage], to: 9), .dim)
        let style = grade?.style ?? .plain
        line.add(
          Fit.padStart(value.map { Amount.duration($0) } ?? "-", to: 6),
          value == nil ? .dim : style)
        line.add((grade?.mark ?? " ") + " ", style)
        let room = width - line.cells
        if room > 0, most > 0, let value, value > 0 {
          // The last cell is kept for a bar that begins at the end.
          let place = isTotal ? 0 : Int(min(start / most, 1) * Double(room))
          let skipped = min(place, room - 1)
          line.add(Fit.spaces(skipped))
          let bar = Bar.text(value, of: most, cells: room).prefix(room - skipped)
          line.add(String(bar), grade?.style ?? .dim)
        }
        start += max(value ?? 0, 0)
        return line.cut(to: width)
      }
    }
    let firsts = shown.indices.map { (shown[$0], $0 == shown.startIndex ? 0 : 4) }
    return firsts.flatMap { rows(age($0), $0.stages.all, from: $1, isGraded: true) }
      + rows("median", latency.medians) + rows("average", latency.averages.all, from: 4)
      + legend(width, firsts)
  }

  /// What the marks say, where there are any in these turns from a stage on.
  private func legend(_ width: Int, _ turns: [(VoiceLatency.Turn, first: Int)]) -> [Line] {
    let hasMarks = turns.contains { turn, first in
      turn.stages.all.enumerated().contains { stage, value in
        stage >= first && value.map { grade($0, stage) != .good } == true
      }
    }
    let text =
      width >= 60
      ? "+ over 1.3 times its average, ! over twice; total + over 2s"
      : "+ over 1.3x, ! over 2x its average"
    return hasMarks ? [Line(text, .dim).cut(to: width)] : []
  }
}
