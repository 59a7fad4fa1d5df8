import Core

/// Words of a shell's command line (POSIX.1-2024, XCU 2.2).
public enum ShellWord {
  /// Any text as one word of a POSIX shell.
  ///
  /// - Parameter text: without a NUL, which no word can hold.
  public static func quoted(_ text: String) -> String {
    "'" + text.exchanging("'", for: "'\\''") + "'"
  }

  /// A script for `sh`, as a command line for whatever shell the user has on the
  /// host: its login shell, which knows the PATH, becomes the `sh` that runs it.
  /// Standard input is the script's.
  ///
  /// What is outside of quotes or could mean something inside of them to one of
  /// sh, bash, zsh, ksh, fish (whose quoted words know `\\` and `\'`) and csh (lines, `!`)
  /// goes as an octal escape of printf(1).
  ///
  /// - Parameters:
  ///   - script: without a NUL.
  ///   - hidesInput: whether login files find standard input empty: one that reads
  ///     would take what is meant for the script.
  public static func login(script: String, hidesInput: Bool = false) -> String {
    let evaluating = "exec sh -c " + quoted(#"eval "$(printf %b "$1")""#) + " sh "
    let inner = evaluating + quoted(octal(script))
    return #"exec "$SHELL" -lc "#
      + (hidesInput ? quoted(inner + " <&3 3<&-") + " 3<&0 </dev/null" : quoted(inner))
  }

  /// A text in which only plain ASCII is left, the rest being escapes that
  /// `printf %b` undoes.
  static func octal(_ text: String) -> String {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count * 2)
    for byte in text.utf8 {
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
  public static func tmux(_ text: String) -> String { quoted(tmuxArgument(text)) }

  /// A word for a shell: the target of tmux that is this session, and no other
  /// whose name begins alike.
  public static func session(_ name: String) -> String { tmux("=" + name) }

  /// Whether there is in a text what cannot be in one line.
  public static func holdsControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.value < 0x20 || 0x7f...0x9f ~= $0.value }
  }
}
