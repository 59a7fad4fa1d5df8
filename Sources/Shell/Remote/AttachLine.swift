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

  /// - Parameters: see the properties.
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
    steps.append(start.preparation)
    steps.append("s ok")
    steps.append("exec \(tmux) \(colour)new-session -A \(start.arguments)\(settings)")
    return ShellWord.login(script: steps.joined(separator: "; "))
  }

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
        "stty -echo 2>/dev/null",
        "s ok",
        "read -r x",
        "exec \(tmux) \(colour)attach-session -t \(session)\(settings)"
          // On tmux's own line, for a moment.
          + " ';' display-message 'connected again'",
      ]
    return ShellWord.login(script: steps.joined(separator: "; "))
  }

  private var tmux: String { "tmux -u -L \(ShellWord.quoted(label))" }

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
    return steps
  }

  /// $$ is the number of the client, too: exec keeps it. Programs may put text
  /// into the clipboard (OSC 52), and Escape is no half a second late, where
  /// the user's tmux.conf leaves these as they come.
  private var settings: String {
    " ';' set-option -g \(clientOption) $$"
      + " ';' if-shell -F '#{==:#{set-clipboard},external}' 'set-option -s set-clipboard on'"
      + " ';' if-shell -F '#{==:#{escape-time},500}' 'set-option -s escape-time 25'"
  }

  /// Set before a client attaches, since a client looks at it once. At a place of its own
  /// in the list, so that it is there once however often it is set.
  private var colour: String {
    guard hasTrueColour, !ShellWord.holdsControls(term) else { return "" }
    return "set-option -sq 'terminal-features[7706]' \(ShellWord.tmux(term + ":RGB")) ';' "
  }

  private static let commonTerms = ["xterm-256color", "xterm", "screen", "linux", "vt100"]
}
