import Core
import Screen

/// One part of the cockpit: everything to be seen of one thing.
///
/// A panel is a value made of a session and a time; it reads no clock and
/// writes nothing. Every text from outside goes through `Outside`.
protocol Panel {
  /// How `--panel` calls it: one lower-case word.
  static var name: String { get }
  /// What stands in its rule: a word or two.
  static var title: String { get }
  /// Whether it takes the whole width, above the columns and without a rule.
  static var isHead: Bool { get }
  /// The least width of the screen at which it is shown without being asked for.
  static var leastWidth: Int { get }

  /// - Parameters:
  ///   - session: any session.
  ///   - now: when it is looked at.
  /// - Returns: nil when there is nothing to show.
  init?(_ session: VoiceSession, at now: Timestamp)

  /// A few words at the end of the rule; may be empty.
  var note: Line { get }

  /// The lines below the rule, none wider than `width`.
  ///
  /// - Parameter width: cells, 20 or more.
  func lines(width: Int) -> [Line]
}

extension Panel {
  static var isHead: Bool { false }
  static var leastWidth: Int { 0 }
  var note: Line { Line() }
}

/// The panels there are.
enum Panels {
  /// All of them, in the order of the screen.
  static var all: [any Panel.Type] {
    [
      HeadPanel.self, ParticipantsPanel.self, TranscriptPanel.self, AttentionPanel.self,
      LatencyPanel.self, ToolsPanel.self, MusicPanel.self, ScreenPanel.self, ASRPanel.self,
      MCPPanel.self, RealtimePanel.self, MembershipPanel.self, SoundboardPanel.self,
      ContextPanel.self, BudgetPanel.self, PromptsPanel.self,
    ]
  }

  /// The panels to show when none were asked for.
  ///
  /// - Parameter width: the cells of the screen.
  static func fitting(width: Int) -> [any Panel.Type] {
    all.filter { $0.leastWidth <= width }
  }

  /// The panel of this name, nil for any other name.
  static func named(_ name: String) -> (any Panel.Type)? { all.first { $0.name == name } }
}
