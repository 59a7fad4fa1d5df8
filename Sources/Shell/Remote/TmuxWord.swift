import Core

/// Words of tmux's own commands (tmux(1), PARSING SYNTAX), and lists of them.
enum TmuxWord {
  /// A text as one word of a command that tmux itself parses. Plain words stay as they
  /// are: a list inside of a list is quoted twice, and a line is 16 KB at most.
  static func quoted(_ text: String) -> String {
    if !text.isEmpty, text.utf8.allSatisfy(isPlain) { return text }
    return "'" + text.exchanging("'", for: "'\\''") + "'"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "/"), UInt8(ascii: "."): true
    case UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "@"): true
    default: false
    }
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
