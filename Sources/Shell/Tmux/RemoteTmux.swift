import CLibc
import Core
import Turns

/// The host's tmux server, called over a link.
public struct RemoteTmux {
  private let calls: HostCalls
  let label: String

  /// - Parameter label: tmux -L.
  public init(_ calls: HostCalls, label: String) {
    self.calls = calls
    self.label = label
  }

  /// The sessions, in tmux's order, by name. Empty only when the host said so.
  public func sessions() throws(HostFailure) -> [TmuxSession] {
    try everything().filter { $0.place == .here }
  }

  /// The sessions, and behind them the agents elsewhere on the host.
  public func everything() throws(HostFailure) -> [TmuxSession] {
    do throws(HostFailure) {
      return try Self.rows(call(TmuxScript.list, [SessionRows.format], session: nil))
    } catch .refused(let text) where HostFailure.isEmptyServer(text) {
      return []
    }
  }

  /// What other servers of the user have: a label, and how many sessions; none of nothing.
  public func others() throws(HostFailure) -> [(label: String, count: Int)] {
    try call(TmuxScript.others, [], session: nil).output.split(separator: 10).compactMap { line in
      let words = line.split(separator: 32).map { String(decoding: $0, as: UTF8.self) }
      guard words.count == 2, let count = Int(words[0]), count > 0 else { return nil }
      return (words[1], count)
    }
  }

  /// Makes a session; never attaches to one that is there.
  ///
  /// - Returns: the session as it is when its program has begun.
  public func new(_ start: SessionStart) throws(HostFailure) -> TmuxSession {
    let answer: ControlAnswer
    do throws(HostFailure) {
      answer = try call(
        TmuxScript.new(start), [TmuxWord.target(start.name), SessionRows.format],
        session: start.name)
    } catch .refused(let text) where HostFailure.isEmptyServer(text) {
      throw .endedAtOnce(start.harness)
    } catch .noFolder {
      throw .noFolder(start.directory)
    } catch .noHarness {
      throw .noHarness(start.firstWord ?? start.harness)
    }
    guard let session = try Self.rows(answer).first(where: { $0.name == start.name }) else {
      throw .endedAtOnce(start.harness)
    }
    return session
  }

  /// Closes a session, by its exact name, and ends what runs in it.
  ///
  /// - Returns: what could not be ended or removed, a line each; often nothing.
  @discardableResult
  public func close(_ name: String) throws(HostFailure) -> [String] {
    let target = try makeSure(name)
    let answer = try call(TmuxScript.close, [target, name], session: name)
    return answer.output.split(separator: 10).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The text that the pane of a session's agent shows: a line each, without the empty ones at the
  /// end.
  public func capture(_ name: String) throws(HostFailure) -> [UInt8] {
    let target = try makeSure(name)
    let capture = TmuxWord.line([
      [
        "if-shell", "-F", "-t", target, TmuxWord.hasOthers,
        TmuxWord.line([["display-message", "-p", Typing.several]]),
        TmuxWord.line([["capture-pane", "-p", "-t", target]]),
      ]
    ])
    let screen = try call(TmuxScript.captureOnly, [target, capture], session: name).output
    guard screen.elementsEqual((Typing.several + "\n").utf8) else { return screen }
    return try call(TmuxScript.capture, [try pane(of: name)], session: name).output
  }

  /// Types into a session.
  ///
  /// - Parameter progress: told how many bytes have gone out.
  public func type(
    _ typing: Typing, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> Typing.Outcome {
    guard try makeSure(typing.session) == TmuxWord.target(typing.session) else {
      throw .refused("the name \(typing.session) means another session, too")
    }
    var typing = typing
    if typing.text.isLong {
      typing.isInPieces = try sessions().contains {
        $0.name == typing.session && $0.conversation != nil
      }
    }
    return try atAgent(typing) { typing throws(HostFailure) in
      try typeOnce(typing, progress: progress)
    }
  }

  /// Does something in the pane of a session's agent, once that is idle, if that is wanted; again
  /// where it was not any more, or where other panes have come.
  func atAgent(
    _ typing: Typing, _ attempt: (Typing) throws(HostFailure) -> Typing.Outcome
  ) throws(HostFailure) -> Typing.Outcome {
    var typing = typing
    let end = Clock.monotonic + (typing.idleWait ?? 0)
    while true {
      if typing.idleWait != nil {
        typing.pane = try waitUntilIdle(typing.session, atMost: end - Clock.monotonic)
      }
      switch try attempt(typing) {
      case .several where typing.pane == nil: typing.pane = try pane(of: typing.session)
      case .busy where Clock.monotonic < end, .asking where Clock.monotonic < end: usleep(200_000)
      case .busy: throw .busy(typing.session, state: AgentState.Kind.working.rawValue)
      case .asking: throw .asks(typing.session)
      case .command: throw .command(typing.session)
      case let outcome: return outcome
      }
    }
  }

  private func typeOnce(
    _ typing: Typing, progress: ((Int) -> Void)?
  ) throws(HostFailure) -> Typing.Outcome {
    let request = typing.request(label: label, nonce: HostCalls.nonce())
    do throws(HostFailure) {
      let answer = try self.answer(
        request, session: typing.session, more: typing.pause, progress: progress)
      return Typing.outcome(answer)
    } catch {
      let mark = Typing.typed + "\n"
      switch error {
      case .refused(let text) where text.hasPrefix(mark):
        throw .onlyTyped(.tmux(String(text.dropFirst(mark.count)), session: typing.session))
      default: throw error.part.starts(with: mark.utf8) ? .onlyTyped(error) : error
      }
    }
  }

  /// The pane of a session's agent.
  ///
  /// - Throws: `HostFailure.noAgentPane` where nothing says which it is: text is typed nowhere
  ///   else.
  public func pane(of name: String) throws(HostFailure) -> String {
    try session(name).agent().pane
  }

  func session(_ name: String) throws(HostFailure) -> TmuxSession {
    guard let session = try sessions().first(where: { $0.name == name }) else {
      throw .noSession(name)
    }
    return session
  }

  /// Makes sure that tmux takes a name for nothing but the session's: `=a:b` is a
  /// session `a`, `=$1` is a number, and `=pts/1` whatever a client there looks at.
  func makeSure(_ name: String) throws(HostFailure) -> String {
    if name.isEmpty || name.holds(":") { throw .noSession(name) }
    guard name.hasPrefix("$") || name.holds("/") else { return TmuxWord.target(name) }
    let found = try session(name)
    return name.hasPrefix("$") ? found.id + ":" : TmuxWord.target(name)
  }

  func call(
    _ script: String, _ arguments: [String], session: String?
  ) throws(HostFailure) -> ControlAnswer {
    try answer(ControlRequest(script, [label] + arguments), session: session)
  }

  func answer(
    _ request: ControlRequest, session: String?, more: Double = 0, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> ControlAnswer {
    let answer = try calls.call(request, more: more, progress: progress)
    switch answer.status {
    case 0: return answer
    case TmuxScript.noTmux: throw .noTmux
    case TmuxScript.noFolder: throw .noFolder("")
    case TmuxScript.noHarness: throw .noHarness("")
    case TmuxScript.serverEnding: throw .serverEnding
    case TmuxScript.noInbox: throw .noInbox(answer.text)
    case TmuxScript.noWorktree: throw .noWorktree(why: answer.text, isFinal: true)
    case TmuxScript.noWorktreeNow: throw .noWorktree(why: answer.text, isFinal: false)
    default: throw .tmux(answer.text, session: session)
    }
  }

  static func rows(_ answer: ControlAnswer) throws(HostFailure) -> [TmuxSession] {
    guard let sessions = SessionRows.parse(answer.output) else {
      throw .refused("its list of sessions cannot be read")
    }
    return sessions
  }
}

extension HostFailure {
  static func tmux(_ text: String, session: String?) -> HostFailure {
    if let session {
      if isEmptyServer(text) || text.hasPrefix("can't find ") { return .noSession(session) }
      if text.hasPrefix("duplicate session") { return .duplicate(session) }
    }
    return .refused(text.isEmpty ? "failed without a word" : text)
  }

  /// In one of its ways; a server that ends while it is asked has none any more.
  static func isEmptyServer(_ text: String) -> Bool {
    text.hasPrefix("no server running on ") || text == "no sessions"
      || text.hasPrefix("server exited") || text == "lost server"
      || text.hasPrefix("error connecting to ")
        && (text.holds("(No such file or directory)") || text.holds("(Connection refused)"))
  }
}

enum TmuxScript {
  static let noTmux: Int32 = 70
  static let refused: Int32 = 71
  static let noFolder: Int32 = 72
  static let noHarness: Int32 = 73
  static let noInbox: Int32 = 74
  static let serverEnding: Int32 = 75
  static let noWorktree: Int32 = 76
  static let noWorktreeNow: Int32 = 77

  /// The first lines. They take `$1`, the label, away: `t` is tmux with it, and `x` the
  /// same for `$(x ...)`, which then is tmux and no shell that waits for it. `has` looks
  /// for a session, `fail` says why and ends. `sweep` forgets the states of agents whose process
  /// has gone: where a shell without job control runs what comes behind the agent, tmux cannot
  /// tell one from the other.
  static let opening =
    """
    unset TMUX TMUX_PANE
    command -v tmux >/dev/null 2>&1 || exit 70
    label=$1
    shift

    """ + revival("\"$label\"")
      + """

      if [ -n "$n" ] && [ ! -S "$k" ] && kill -0 $n 2>/dev/null; then
        echo "its server runs, but $k is gone"
        exit \(refused)
      fi

      """ + calls

  /// Words for sh, a line: where the socket of a server was removed, as by a cleaner of /tmp, the
  /// server makes it anew (tmux(1), SIGUSR1), so that nobody takes it for gone and starts a second
  /// agent. One that is about to end is waited for.
  static func revival(_ label: String) -> String {
    let listening =
      #"{ i = index($0, " " ENVIRON["k"]); if (i && i + length(ENVIRON["k"]) == length($0) "#
      + #"&& $4 == "00010000") { print $7; exit } }"#
    let named = #"/^p/ { p = substr($0, 2) } substr($0, 2) == ENVIRON["k"] { print p; exit }"#
    return #"n=; k=$(cd "${TMUX_TMPDIR:-/tmp}" 2>/dev/null && pwd -P || echo /tmp)/tmux-$(id -u)/"#
      + label + #"; [ -S "$k" ] || { n=$(if [ -r /proc/net/unix ]; then "#
      // A name that is bound is told there, though its file is gone.
      + "i=$(k=$k awk '\(listening)' /proc/net/unix); "
      + #"[ -z "$i" ] || for p in /proc/[0-9]*; do ls -l "$p/fd" 2>/dev/null | "#
      + #"grep -qF "socket:[$i]" && echo "${p#/proc/}"; done; else "#
      + #"lsof -a -U -u "$(id -u)" -F pn 2>/dev/null | "# + "k=$k awk '\(named)'; fi); i=0; "
      + #"[ -z "$n" ] || mkdir -m 700 "${k%/*}" 2>/dev/null; while [ -n "$n" ] && "#
      + #"[ ! -S "$k" ] && [ "$i" -lt 20 ] && kill -USR1 $n 2>/dev/null; do "#
      + "i=$((i + 1)); sleep 0.05 || sleep 1; done; }"
  }

  private static let calls = """
    t() { tmux -u -L "$label" "$@"; }
    x() { exec tmux -u -L "$label" "$@"; }
    fail() {
      printf '%s\\n' "$1"
      exit 71
    }
    has() { say=$(x has-session -t "$1" 2>&1) || fail "$say"; }
    sweep() {
      t list-panes -a -F '#{@agent_process} #{pane_id}' 2>/dev/null | while read -r process pane; do
        case $process:${pane#%} in
        *[!0-9:]* | :* | *:) continue ;;
        esac
        # A process of another user cannot be signalled.
        kill -0 "$process" 2>/dev/null || [ -d "/proc/$process" ] || ps -p "$process" >/dev/null 2>&1 ||
          t if-shell -F -t "$pane" "#{==:#{@agent_process},$process}" \\
            "set-option -pu -t $pane @agent_state ; set-option -pu -t $pane @agent_since ; \\
            set-option -pu -t $pane @agent_reason ; set-option -pu -t $pane @agent_command ; \\
            set-option -pu -t $pane @agent_process ; wait-for -S agent-state" </dev/null >/dev/null 2>&1
      done
    }

    """

  static let list =
    opening + looking + """
      claude_folders
      agent_find
      sweep
      say=$(look "$1") || fail "$say"
      printf '%s\\n' "$say"
      """

  /// `look FORMAT` prints the agents, for these the panes of other servers, and the list; its first
  /// failure is the list's, unless there are agents elsewhere.
  static let looking =
    ClaudeStatus.script + AgentProcess.script + """
      look() {
        rows=$(agent_rows)
        if [ -n "$rows" ]; then
          printf '%s\\n' "$rows"
          for k in "${k%/*}"/*; do
            case ${k##*/} in "$label" | -* | *[!A-Za-z0-9._-]*) continue ;; esac
            [ ! -S "$k" ] || tmux -S "$k" list-panes -a \
              -F "O|${k##*/}|\(SessionRows.otherFormat)" </dev/null 2>/dev/null
          done
        fi
        t list-sessions -F "$1" 2>&1 || [ -n "$rows" ]
      }

      """

  /// How many sessions other servers have, and the label, a line each; nothing starts one.
  static let others =
    opening + """
      for k in "${k%/*}"/*; do
        case ${k##*/} in "$label" | -* | *[!A-Za-z0-9._-]*) continue ;; esac
        [ ! -S "$k" ] || printf '%s %s\\n' \
          "$(tmux -S "$k" list-sessions </dev/null 2>/dev/null | grep -c .)" "${k##*/}"
      done
      """

  /// The pane's text: `$1` is the target.
  static let capture =
    opening + """
      has "$1"
      say=$(x capture-pane -p -t "$1" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// The same of the only pane: `$2` is what tmux runs for it.
  static let captureOnly =
    opening + """
      has "$1"
      say=$(x if-shell -F 1 "$2" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// A new session, and then the list. A server that is just ending is asked again, for
  /// about a second: the next one makes it. Its program need not have begun when tmux answers: up to half a second is
  /// waited until it has.
  ///
  /// `$1` is the target, `$2` the list's format.
  static func new(_ start: SessionStart) -> String {
    let harness = start.firstWord.map { "command -v \($0) >/dev/null 2>&1 || exit \(noHarness)\n" }
    return opening + "cd -- \(start.folderWord) 2>/dev/null || exit \(noFolder)\n"
      + (harness ?? "")
      + (start.worktree.map {
        "\($0) || { [ $? -ne 75 ] || exit \(noWorktreeNow); exit \(noWorktree); }\n"
      }
        ?? "")
      + start.preparation + "\n"
      + "make() { x new-session -d \(start.arguments)\(AttachLine.staying(start.name)) 2>&1; }\n"
        + """
        i=0
        until say=$(make); do
          case $say in
          'server exited'* | 'lost server') ;;
          *) fail "$say" ;;
          esac
          [ "$i" -lt 10 ] || exit \(serverEnding)
          sleep 0.1 || { sleep 1 && i=9; }
          i=$((i + 1))
        done
        i=0
        while [ "$i" -lt 25 ]; do
          case $(x list-panes -t "$1" -F '#{pane_current_command}' 2>/dev/null) in
          '' | tmux* | env | sh | riff-claude) sleep 0.02 || break ;;
          *) break ;;
          esac
          i=$((i + 1))
        done
        say=$(x list-sessions -F "$2" 2>&1) || fail "$say"
        printf '%s\\n' "$say"
        """
  }
}
