import Core

/// Words of tmux's own commands (tmux(1), PARSING SYNTAX), and lists of them.
enum TmuxWord {
  /// A text as one word of a command that tmux itself parses.
  static func quoted(_ text: String) -> String {
    "'" + text.exchanging("'", for: "'\\''") + "'"
  }

  /// A session as the target of any command, and no other whose name begins alike.
  static func target(_ session: String) -> String { "=" + session + ":" }

  /// Commands as the arguments of one call of tmux: it runs them to the end with
  /// nothing between them, and stops at the first that fails.
  static func list(_ commands: [[String]]) -> [String] {
    Array(commands.map { $0.map(ShellWord.tmuxArgument) }.joined(separator: [";"]))
  }

  /// A list as one command line that tmux parses.
  static func line(_ commands: [[String]]) -> String {
    commands.map { $0.map(quoted).joined(separator: " ") }.joined(separator: " ; ")
  }

  /// Commands that leave copy mode, where typed keys would move about in the text.
  /// The other modes know no cancel; older tmux knows no -q.
  static func leavingModes(_ target: String) -> [[String]] {
    let copying = "#{||:#{==:#{pane_mode},copy-mode},#{==:#{pane_mode},view-mode}}"
    return [
      [
        "if-shell", "-F", "-t", target, copying,
        line([["send-keys", "-X", "-t", target, "cancel"]]),
      ],
      [
        "if-shell", "-F", "-t", target, "#{pane_in_mode}",
        line([["copy-mode", "-q", "-t", target]]),
      ],
    ]
  }
}
