import Core

/// The command lines that put a terminal into a tmux session: one to begin with,
/// which makes the session if there is none, and one for each time that the link
/// comes back, which never makes one.
///
/// Both run a script with sh(1) that prints an `AttachAnswer`, and becomes tmux if
/// there is something to attach to. tmux starts from the login PATH, with -u, since
/// LANG may not reach the host.
public struct AttachLine: Sendable {
  /// What is attached to.
  public let start: SessionStart
  /// tmux -L.
  public let label: String
  /// Tells this terminal from the user's others: letters and digits.
  public let client: String
  /// Makes the answer one that nothing else prints by chance: letters and digits.
  public let nonce: String
  /// TERM; one that every host knows is never exchanged.
  public let term: String
  /// Whether the terminal shows 24-bit colour.
  public let hasTrueColour: Bool

  public init(
    start: SessionStart, label: String, client: String, nonce: String,
    term: String = "xterm-256color", hasTrueColour: Bool = false
  ) {
    self.start = start
    self.label = label
    self.client = client
    self.nonce = nonce
    self.term = term
    self.hasTrueColour = hasTrueColour
  }

  /// Attaches, and makes the session if there is none.
  public var first: String {
    var steps = opening
    steps.append(
      "cd -- \(start.folderWord) 2>/dev/null || \(hasSession) || { s nofolder; exit 1; }")
    if let word = start.firstWord {
      let missing = "{ s noharness; exit 127; }"
      steps.append("command -v \(word) >/dev/null 2>&1 || \(hasSession) || \(missing)")
    }
    if let worktree = start.worktree {
      steps.append("\(hasSession) || { \(worktree); } || { w=$?; s noworktree; exit \"$w\"; }")
    }
    steps.append(start.preparation)
    steps.append(Self.quietTerminal)
    steps.append("s ok")
    steps.append("exec \(tmux) \(colour)new-session -A \(start.arguments)\(settings)")
    return ShellWord.login(script: steps.joined(separator: "; "))
  }

  /// Keys that are typed before tmux has the terminal come to it as they are: Return as CR, ^D
  /// and ^C as bytes. Lines end as before, for what tmux says in the end.
  private static let quietTerminal =
    "stty -echo -icanon -icrnl -isig -ixon -iexten 2>/dev/null"

  /// What the script of `again` waits for behind the answer that it attaches.
  public static let acknowledgement: [UInt8] = [10]

  /// Attaches to the session if it still is there. A client that this terminal has
  /// left behind on a dead link is detached, and no other.
  public var again: String {
    let session = ShellWord.session(start.name)
    let steps =
      opening + [
        "\(hasSession) || { s gone; exit 1; }",
        "p=$(\(tmux) show-options -gqv \(clientOption) 2>/dev/null)",
        "t=$(\(tmux) list-clients -F '#{client_pid} #{client_tty}' 2>/dev/null | "
          + "while read -r a b; do [ \"$a\" != \"$p\" ] || printf %s \"$b\"; done)",
        "[ -z \"$t\" ] || \(tmux) detach-client -t \"$t\" 2>/dev/null",
        // tmux drops what the terminal has not passed on when it takes it over: it
        // waits until the answer has been read, and `acknowledgement` has come.
        Self.quietTerminal,
        "s ok",
        "read -r x",
        "exec \(tmux) \(colour)attach-session -t \(session)\(settings)"
          // On tmux's own line, for a moment.
          + " ';' display-message 'connected again'",
      ]
    return ShellWord.login(script: steps.joined(separator: "; "))
  }

  private var tmux: String { "tmux -u -L \(label.shellQuoted)" }

  private var hasSession: String {
    "\(tmux) has-session -t \(ShellWord.session(start.name)) 2>/dev/null"
  }

  private var clientOption: String { "@riff_client_" + client }

  /// The answer's mark stands in the script in pieces: a shell that shows what it
  /// runs (`set -x`) does not print it.
  private var opening: [String] {
    var steps = [
      "unset TMUX TMUX_PANE", "s() { printf '\\036%s:%s:%s\\036' riff \(nonce) \"$1\"; }",
    ]
    if !Self.commonTerms.contains(term) {
      steps.append("tput longname >/dev/null 2>&1 || export TERM=xterm-256color")
    }
    steps.append("command -v tmux >/dev/null 2>&1 || { s notmux; exit 127; }")
    steps.append(TmuxScript.revival(label.shellQuoted))
    return steps
  }

  /// $$ is the number of the client, too: exec keeps it. Programs may put text
  /// into the clipboard (OSC 52), and Escape comes without half a second's delay, where
  /// the user's tmux.conf leaves these as they come.
  private var settings: String {
    " ';' set-option -g \(clientOption) $$" + Self.staying(start.name)
      + " ';' if-shell -F '#{==:#{set-clipboard},external}' 'set-option -s set-clipboard on'"
      + " ';' if-shell -F '#{==:#{escape-time},500}' 'set-option -s escape-time 25'"
  }

  /// Words for sh: what the user's tmux.conf must not say of a session that is attached to: its end
  /// takes the terminal to no other session, and it goes on without a client.
  static func staying(_ session: String) -> String {
    let target = ShellWord.tmux(TmuxWord.target(session))
    return " ';' set-option -qt \(target) detach-on-destroy on"
      + " ';' set-option -qt \(target) destroy-unattached off"
      + " ';' set-option -sq exit-unattached off"
  }

  /// Set before a client attaches, since a client looks at it once. At a place of its own
  /// in the list, so that it is there once however often it is set.
  private var colour: String {
    guard hasTrueColour, !ShellWord.holdsControls(term) else { return "" }
    return "set-option -sq 'terminal-features[7706]' \(ShellWord.tmux(term + ":RGB")) ';' "
  }

  private static let commonTerms = ["xterm-256color", "xterm", "screen", "linux", "vt100"]
}

/// What the script of an `AttachLine` says right before it becomes tmux, or ends.
public enum AttachAnswer: String, Equatable, Sendable {
  /// tmux comes next.
  case attaching = "ok"
  /// The session that was to be attached to again has ended.
  case gone
  /// tmux is not on the login PATH.
  case noTmux = "notmux"
  /// A new session's folder cannot be entered.
  case noFolder = "nofolder"
  /// A new session's program is not on the login PATH.
  case noHarness = "noharness"
  /// There can be no worktree for a new session: why stands in front.
  case noWorktree = "noworktree"
}

/// Takes the answer out of what a terminal receives, and lets all else pass: what
/// login files print, and the bytes of tmux.
public struct AttachAnswerFilter: Sendable {
  /// The answer, once it has come.
  public private(set) var answer: AttachAnswer?
  private let mark: [UInt8]
  private var held: [UInt8] = []

  /// - Parameter nonce: that of the `AttachLine`.
  public init(nonce: String) {
    mark = Array("\u{1e}riff:\(nonce):".utf8)
  }

  /// Takes the next bytes.
  ///
  /// - Returns: those that pass, before the answer and behind it.
  public mutating func receive(_ bytes: [UInt8]) -> (before: [UInt8], behind: [UInt8]) {
    var before: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      hold(byte, &before)
      if answer != nil { return (before, Array(bytes[(index + 1)...])) }
    }
    return (before, [])
  }

  /// Takes it that the session is there, from another sign than the answer.
  public mutating func assumeAttaching() {
    if answer == nil { answer = .attaching }
  }

  private mutating func hold(_ byte: UInt8, _ passed: inout [UInt8]) {
    if held.count < mark.count {
      if byte == mark[held.count] {
        held.append(byte)
        return
      }
    } else if byte == 0x1e {
      answer = AttachAnswer(rawValue: String(decoding: held[mark.count...], as: UTF8.self))
      if answer != nil {
        held = []
        return
      }
    } else if held.count < mark.count + 16 {
      held.append(byte)
      return
    }
    // Not the answer after all. The mark's first byte comes in it once only.
    passed += held
    held = []
    if byte == mark[0] { held.append(byte) } else { passed.append(byte) }
  }
}
