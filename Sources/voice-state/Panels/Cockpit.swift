import Agent
import Core
import Screen

/// One part of the cockpit: everything to be seen of one thing.
///
/// A panel is a value made of a session and a time; it reads no clock and
/// writes nothing. Every text from outside goes through `Untrusted`.
protocol Panel {
  /// How `--panel` calls it: one lower-case word.
  static var name: String { get }
  static var title: String { get }
  /// Whether it takes the whole width, above the columns and without a rule.
  static var isHead: Bool { get }
  /// The least width of the screen at which it is shown without being asked for.
  static var leastWidth: Int { get }

  /// Nil when there is nothing to show.
  init?(_ session: VoiceSession, at now: Now)

  var note: Line { get }

  /// The lines below the rule, none wider than `width`.
  func lines(width: Int) -> [Line]
}

extension Panel {
  static var isHead: Bool { false }
  static var leastWidth: Int { 0 }
  var note: Line { Line() }
}

enum Panels {
  static var all: [any Panel.Type] {
    [
      HeadPanel.self, ParticipantsPanel.self, TranscriptPanel.self, AttentionPanel.self,
      LatencyPanel.self, ToolsPanel.self, MusicPanel.self, ScreenPanel.self, ASRPanel.self,
      MCPPanel.self, RealtimePanel.self, MembershipPanel.self, SoundboardPanel.self,
      ContextPanel.self, BudgetPanel.self, PromptsPanel.self,
    ]
  }

  static var names: [String] { all.map { $0.name } }

  static func fitting(width: Int) -> [any Panel.Type] { all.filter { $0.leastWidth <= width } }

  static func named(_ name: String) -> (any Panel.Type)? { all.first { $0.name == name } }
}

/// The whole screen: session after session, each with its head above its panels
/// in one column, in two from 100 cells on, in three from 160 on.
struct Cockpit {
  /// Kept from frame to frame, so that a panel stays in its column.
  struct Arrangement: Equatable {
    var panels: [String], columns: [Int]
  }

  /// The cells between two columns.
  static let gap = 3
  /// Percent that the tallest column may be too tall before panels move.
  private static let slack = 150

  let sessions: [VoiceSession]
  let now: Now
  let panels: [any Panel.Type]
  let width: Int

  init(sessions: [VoiceSession], now: Now, panels: [any Panel.Type]? = nil, width: Int) {
    (self.sessions, self.now) = (sessions, now)
    self.width = max(width, 20)
    self.panels = panels ?? Panels.fitting(width: self.width)
  }

  static func columns(width: Int) -> Int { width >= 160 ? 3 : width >= 100 ? 2 : 1 }

  /// The frame. Without a session it is empty.
  var lines: [Line] {
    var arrangements: [Arrangement] = []
    return frame(keeping: &arrangements)
  }

  /// The frame, with the panels where they were before if that still looks well.
  func frame(keeping arrangements: inout [Arrangement]) -> [Line] {
    var lines: [Line] = []
    var kept: [Arrangement] = []
    for (index, session) in sessions.enumerated() {
      if index > 0 { lines.append(Line()) }
      let shown = panels.compactMap { $0.init(session, at: now) }
      for head in shown where type(of: head).isHead { lines += head.lines(width: width) }
      let (body, arrangement) = body(
        shown.filter { !type(of: $0).isHead },
        index < arrangements.count ? arrangements[index] : nil)
      lines += body
      kept.append(arrangement)
    }
    arrangements = kept
    return lines.map { $0.cut(to: width) }
  }

  private func body(_ shown: [any Panel], _ before: Arrangement?) -> ([Line], Arrangement) {
    let count = min(Self.columns(width: width), max(shown.count, 1))
    let widths = Columns.widths(count, width: width, gap: Self.gap)
    // The columns' widths differ by a cell at most: every panel is made for the
    // narrowest and its rule for the column that it gets.
    let least = widths.last ?? width
    let blocks = shown.map { $0.lines(width: least) }
    let arrangement = arrange(shown.map { type(of: $0).name }, blocks.map { $0.count + 1 }, before)
    var columns: [[Line]] = []
    var next = 0
    for (column, taken) in arrangement.columns.enumerated() {
      var lines: [Line] = []
      for index in next..<next + taken {
        let panel = shown[index]
        lines.append(
          Rule.line(Line(type(of: panel).title, .bold), note: panel.note, width: widths[column]))
        lines += blocks[index]
      }
      next += taken
      columns.append(lines)
    }
    return (Columns.join(columns, widths: widths, gap: Self.gap), arrangement)
  }

  private func arrange(_ names: [String], _ heights: [Int], _ before: Arrangement?) -> Arrangement {
    let count = Self.columns(width: width)
    let best = Columns.balance(heights, count: count)
    guard let before, before.panels == names, before.columns.count == best.count,
      tallest(heights, before.columns) * 100 <= tallest(heights, best) * Self.slack
    else { return Arrangement(panels: names, columns: best) }
    return before
  }

  private func tallest(_ heights: [Int], _ columns: [Int]) -> Int {
    var next = 0
    return columns.map { taken in
      defer { next += taken }
      return heights[next..<next + taken].reduce(0, +)
    }.max() ?? 0
  }
}
