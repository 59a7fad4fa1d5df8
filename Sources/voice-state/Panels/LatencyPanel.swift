import Agent
import Core
import Screen

/// How long the answers took: a row per answer, a bar and a number per stage.
struct LatencyPanel: Panel {
  static let name = "latency"
  static let title = "Latency"

  /// A total above this is slow, whatever is usual.
  static let slowTotal = 2000.0
  /// The stages in the order of `VoiceLatency.Stages.all`.
  static let stages = ["to ASR", "to gen", "to reply", "to audio", "total"]
  /// The most answers that have a row; servers send eight.
  private static let most = 8

  /// How a stage compares with its own average.
  enum Grade {
    case good, ok, bad

    /// - Parameters:
    ///   - value: milliseconds.
    ///   - average: nil makes everything good.
    ///   - isTotal: whether it is the total, which warns above two seconds.
    init(_ value: Double, average: Double?, isTotal: Bool) {
      let ratio = average.flatMap { $0 > 0 ? value / $0 : nil } ?? 1
      self = ratio <= 1.3 ? .good : ratio <= 2 ? .ok : .bad
      if self == .good, isTotal, value > LatencyPanel.slowTotal { self = .ok }
    }

    var style: Style {
      switch self {
      case .good: Style(Palette.positive)
      case .ok: Style(Palette.warning)
      case .bad: Style(Palette.error)
      }
    }

    /// One cell, so that no colour is needed.
    var mark: String {
      switch self {
      case .good: " "
      case .ok: "+"
      case .bad: "!"
      }
    }
  }

  private let latency: VoiceLatency
  /// The answers of which anything is known, newest first.
  private let turns: [VoiceLatency.Turn]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let latency = session.latency else { return nil }
    turns = latency.recentTurns.filter { !$0.stages.isUnknown }
    if turns.isEmpty, latency.averages.isUnknown { return nil }
    self.latency = latency
    self.now = now
  }

  var note: Line {
    var note = Line()
    if let last = turns.first?.stages.totalMs {
      let slow = last > Self.slowTotal ? " slow" : ""
      note.add("last " + Amount.duration(last) + slow, grade(last, 4).style)
    }
    if let median = latency.medians[4] {
      note.add((note.spans.isEmpty ? "" : ", ") + "median " + Amount.duration(median), .dim)
    }
    return note
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

  /// The largest stage, and the largest total: what fills a bar.
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
      lines.append(
        table.row(
          age(turn), .plain,
          turn.stages.all.enumerated().map { stage, value in
            value.map { ($0, grade($0, stage)) }
          }))
    }
    lines.append(table.row("median", .dim, latency.medians.map { $0.map { ($0, nil) } }))
    lines.append(table.row("average", .dim, latency.averages.all.map { $0.map { ($0, nil) } }))
    if table.hasMarks { lines.append(legend(width)) }
    return lines
  }

  /// For narrow screens: the stages of the last answer below each other, each
  /// beginning where the one before ended, then the totals of the answers before.
  private func waterfall(_ width: Int) -> [Line] {
    var rows = LatencyWaterfall(
      width: width, leadCells: leadCells, most: max(most.stage, most.total))
    for (index, turn) in shown.enumerated() {
      let all = turn.stages.all
      let grades = all.indices.map { stage in all[stage].map { grade($0, stage) } }
      if index == 0 {
        rows.add(age(turn), Self.stages, all, grades)
      } else {
        rows.add(age(turn), Self.stages.suffix(1), all.suffix(1), grades.suffix(1))
      }
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
