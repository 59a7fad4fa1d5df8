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

  /// The panel of a name, nil when there is none.
  static func named(_ name: String) -> (any Panel.Type)? { all.first { $0.name == name } }
}
