import Core

/// Words of a shell's command line (POSIX.1-2024, XCU 2.2).
public enum ShellWord {
  /// A script for `sh`, as a command line for whatever shell the user has on the
  /// host: its login shell, which knows the PATH, becomes the `sh` that runs it.
  /// Standard input is the script's.
  ///
  /// What could mean something inside of quotes to one of sh, bash, zsh, ksh, fish (whose
  /// quoted words know `\\` and `\'`) and csh (lines, `!`) stands outside of them, behind a
  /// backslash; the lines come as fields. A longer script, and one that is not plain ASCII,
  /// goes as octal escapes of printf(1), which takes one more process on the host.
  ///
  /// - Parameters:
  ///   - script: without a NUL.
  ///   - hidesInput: whether login files find standard input empty: one that reads
  ///     would take what is meant for the script.
  public static func login(script: String, hidesInput: Bool = false) -> String {
    let input = hidesInput ? " <&3 3<&-" : ""
    let word: String
    if let inner = fields(script), inner.utf8.count <= longestFields {
      word = escaped(inner + input)
    } else {
      let evaluating = "exec sh -c " + #"eval "$(printf %b "$1")""#.shellQuoted + " sh "
      word = (evaluating + octal(script).shellQuoted + input).shellQuoted
    }
    return #"exec "$SHELL" -lc "# + word + (hidesInput ? " 3<&0 </dev/null" : "")
  }

  /// In quotes once more, it is up to four times as long: one command of libssh2 is 32 KB.
  private static let longestFields = 7 << 10

  /// A command line for a script whose lines are fields of one word: at its start, a shell's
  /// IFS ends in a line feed. Nil for a script that is not plain ASCII.
  private static func fields(_ script: String) -> String? {
    let bytes = script.utf8
    guard bytes.allSatisfy({ 0x20...0x7e ~= $0 || $0 == 10 }),
      let mark = "^@%~".utf8.first(where: { !bytes.contains($0) })
    else { return nil }
    let end = String(UnicodeScalar(mark))
    let evaluating =
      #"n=${IFS#??}; set -f; IFS=""# + end + #""; set -- $1; IFS=$n; set -- "$*"; "#
      + #"unset IFS n; set +f; eval "$1""#
    return "exec sh -c \(escaped(evaluating)) sh " + escaped(script.exchanging("\n", for: end))
  }

  /// Plain ASCII as one word of any shell.
  private static func escaped(_ text: String) -> String {
    var word: [UInt8] = [0x27]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "!"):
        word += [0x27, 0x5c, byte, 0x27]
      default: word.append(byte)
      }
    }
    return String(decoding: word + [0x27], as: UTF8.self)
  }

  /// A text in which only plain ASCII is left, the rest being escapes that
  /// `printf %b` undoes; a byte of a file's name that is not UTF-8, too.
  static func octal(_ text: String) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count * 2)
    for byte in FileName.bytes(text) {
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "!"), 0..<0x20, 0x7f...:
        out += [0x5c, 0x30, 0x30 + (byte >> 6), 0x30 + (byte >> 3 & 7), 0x30 + (byte & 7)]
      default: out.append(byte)
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// A text as an argument of tmux, not quoted for a shell yet: one that ends in `;`
  /// would end the command, quoted or not (tmux(1), COMMAND PARSING AND EXECUTION).
  public static func tmuxArgument(_ text: String) -> String {
    text.utf8.last == UInt8(ascii: ";") ? text.dropLast() + "\\;" : text
  }

  /// A word for a shell that gives tmux this argument.
  public static func tmux(_ text: String) -> String { tmuxArgument(text).shellQuoted }

  /// A word for a shell: the target of tmux that is this session, and no other
  /// whose name begins alike.
  public static func session(_ name: String) -> String { tmux("=" + name) }

  /// Whether there is in a text what cannot be in one line.
  public static func holdsControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.value < 0x20 || 0x7f...0x9f ~= $0.value }
  }
}

/// Words of tmux's own commands (tmux(1), PARSING SYNTAX), and lists of them.
enum TmuxWord {
  /// A text as one word of a command that tmux itself parses. Plain words stay as they
  /// are: a list inside of a list is quoted twice, and a line is 16 KB at most.
  static func quoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0.isAlphanumeric || "-_/.:=@".utf8.contains($0) }
    return isPlain && !text.isEmpty ? text : text.shellQuoted
  }

  /// A session as the target of any command, and no other whose name begins alike.
  static func target(_ session: String) -> String { "=" + session + ":" }

  static let hasOthers =
    "#{&&:#{session_id},#{||:#{!=:#{session_windows}#{window_panes},11},"
    + "#{&&:#{@agent_pane},#{!=:#{@agent_pane},#{pane_id}}}}}"

  /// One call: tmux runs them with nothing between, and stops at the first that fails.
  static func list(_ commands: [[String]]) -> [String] {
    Array(commands.map { $0.map(ShellWord.tmuxArgument) }.joined(separator: [";"]))
  }

  static func line(_ commands: [[String]]) -> String {
    commands.map { $0.map(quoted).joined(separator: " ") }.joined(separator: " ; ")
  }

  /// In copy mode typed keys would move about. Other modes, and older tmux, differ.
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
