public import Core

/// What a session begins with: its name, its folder, its program. Makes the parts
/// of a script for sh(1) on the host that start it, as `AttachLine` and `RemoteTmux.new` do.
public struct SessionStart: Equatable, Sendable {
  /// The session's name, checked.
  public let name: String
  /// As the user wrote it.
  public let directory: String
  /// The program with its arguments, as the user quoted them.
  public let harness: String
  /// Whether the host's script gives it a worktree of its own.
  public let usesWorktree: Bool

  /// - Parameters:
  ///   - name: nil for `riff`.
  ///   - directory: `~`, `~/...`, `$HOME`, `$HOME/...`, an absolute path, or one from the home
  ///     on; nil for the home.
  ///   - harness: a command for sh; nil or blank for `claude`.
  ///   - usesWorktree: only with `claude`.
  /// - Throws: `UsageError` for what cannot be one line, a name that tmux would change, a
  ///   worktree for another program.
  public init(
    name: String? = nil, directory: String? = nil, harness: String? = nil,
    usesWorktree: Bool = false
  ) throws(UsageError) {
    self.name = try SessionName.checked(name ?? SessionName.base)
    self.directory = directory ?? "~"
    let words = String((harness ?? "").trimming { $0 == " " || $0 == "\t" })
    self.harness = words.isEmpty ? "claude" : words
    self.usesWorktree = usesWorktree
    guard !ShellWord.holdsControls(self.directory) else {
      throw UsageError("directory \(self.directory): control characters")
    }
    guard !ShellWord.holdsControls(self.harness) else {
      throw UsageError("harness \(self.harness): control characters")
    }
    guard !usesWorktree || firstWord == "claude" else {
      throw UsageError("--worktree: only with claude")
    }
  }

  /// The folder, as a word for sh: absolute, and never a command.
  public var folderWord: String {
    var rest = directory[...]
    for home in ["~", "$HOME", "${HOME}"] where rest == home || rest.hasPrefix(home + "/") {
      rest = rest.dropFirst(home.count + 1)
      return rest.isEmpty ? "\"$HOME\"" : "\"$HOME\"/" + String(rest).shellQuoted
    }
    if rest.hasPrefix("/") { return directory.shellQuoted }
    return rest.isEmpty ? "\"$HOME\"" : "\"$HOME\"/" + directory.shellQuoted
  }

  /// The first word of the harness where it is a plain name or path.
  public var firstWord: String? {
    let word = harness.prefix { $0 != " " }
    let isPlain = word.utf8.allSatisfy { $0.isAlphanumeric || "/._-".utf8.contains($0) }
    return isPlain ? String(word) : nil
  }

  /// Words for sh that go before `tmux`: they set `h` to what the session runs, and
  /// `d` to its folder, as arguments of tmux. They come after `cd`.
  public var preparation: String {
    // An argument of tmux must not end in a semicolon.
    let escaped = "case $d in *\\;) d=${d%?}\\\\\\; ;; esac"
    guard usesWorktree else { return "h=" + ShellWord.tmux(Self.hiding + program(harness)) }
    let other = program("riff-claude" + harness.dropFirst("claude".count))
    return "d=$PWD; \(escaped); h=\(ShellWord.tmux(Self.hiding + other))"
  }

  /// Words for sh that make the session's worktree before the session, so that no agent runs
  /// in the repository itself: where there can be none, why is on standard output, and the status
  /// is 2, or 75 where it may be otherwise the next time. Nil where none is wanted.
  public var worktree: String? {
    guard usesWorktree else { return nil }
    return "{ w=$(command -v riff-claude) || { echo 'no worktree: riff-claude is not on the login "
      + "PATH'; false; }; } && { grep -q -e --riff-tree \"$w\" || { echo 'no worktree: riff-claude "
      + "there is of an older version'; false; }; } && { w=$(RIFF_WORKTREE=1 "
      + "RIFF_START_DIR=\"$PWD\" RIFF_SESSION=\(name.shellQuoted) riff-claude --riff-tree "
      + "2>&1) || { w=$?:$w; echo \"${w#*: }\"; (exit \"${w%%:*}\"); }; }"
  }

  /// The end of tmux's new-session command, behind its own options: a word for sh
  /// each, after `preparation`. The folder is the one that the script is in: with -c
  /// tmux would take it for a format, and run what is in it.
  public var arguments: String {
    let name = ShellWord.tmux(name)
    let worktree =
      usesWorktree
      ? " -e RIFF_WORKTREE=1 -e RIFF_START_DIR=\"$d\" -e RIFF_SESSION=\(name)" : ""
    return "-s \(name)\(worktree) sh -c \"$h\""
  }

  /// What comes before the program: agents behave otherwise inside of tmux, so it is hidden
  /// from them; agent-state(1) finds the pane by a name of our own, and whoever types by the
  /// session's option.
  private static let hiding =
    "AGENT_PANE=$TMUX_PANE@${TMUX%,*,*}; export AGENT_PANE; p=$TMUX_PANE; tmux "
    + own.map { $0.exchanging(text: "%p", for: "\"$p\"") }.joined(separator: " ';' ")
    + " 2>/dev/null; unset TMUX TMUX_PANE p; "

  /// What the user's tmux.conf must not change for our sessions, set for them alone; `%p` is the
  /// agent's pane. When its program ends, so does the session, and no client goes to another
  /// one; keys for this pane are for no other; and hooks take the keyboard to no other.
  private static let own =
    [
      "set-option -qt %p @agent_pane %p", "set-option -qt %p detach-on-destroy on",
      "set-option -qt %p key-table root", "set-option -wqt %p remain-on-exit off",
      "set-option -wqt %p synchronize-panes off",
    ]
    + ["client-attached", "client-session-changed", "pane-died", "pane-exited"].map {
      "set-hook -t %p \($0) ''"
    } + ["select-window -t %p", "select-pane -t %p"]

  /// What sh is given. A program takes the place of its shell where it can, so that
  /// tmux shows its name and not the shell's.
  private func program(_ harness: String) -> String {
    let command = harness.prefix { $0 != " " }
    let takesPlace =
      !harness.utf8.contains { Self.separators.contains($0) } && !command.contains("=")
      && ![".", "eval", "exec", "command", "source", "!", "{", "cd"].contains(command)
    return takesPlace ? "exec " + harness : harness
  }

  private static let separators = Array(";&|<>(){}`".utf8)
}

/// Names of tmux sessions that mean what they say.
public enum SessionName {
  /// The session that is meant where none is named.
  public static let base = "riff"

  /// The argument of `--session`.
  public static let reading = Reading(
    { argument throws(UsageError) in try checked(argument.value) },
    completion: SessionMemory.names)

  /// Takes a name that tmux keeps as it is.
  ///
  /// - Throws: `UsageError` for one that it changes silently (`.`, `:`, `\`), takes
  ///   for a format (`#`, which could run a command), for a target of another kind
  ///   (`$`, `=`) or for an option, and for text that does not fit on one line.
  public static func checked(_ name: String) throws(UsageError) -> String {
    let reason = fault(name)
    if let reason { throw UsageError("session \(name): no name for a session: \(reason)") }
    return name
  }

  private static func fault(_ name: String) -> String? {
    if name.isEmpty { return "empty" }
    if name.utf8.count > 200 { return "too long" }
    if ShellWord.holdsControls(name) { return "control characters" }
    if name.hasPrefix("-") || name.hasPrefix("=") { return "begins with \(name.prefix(1))" }
    return name.first { ".:#$\\".contains($0) }.map { "\($0) in it" }
  }
}
