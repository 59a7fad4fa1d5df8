import Core

/// Why the host's tmux did not do what was asked.
public enum TmuxError: Error, Equatable, Sendable {
  /// The host did not answer.
  case call(ControlFailure)
  /// There is no tmux on the login PATH.
  case noTmux
  /// There is no session of this name.
  case noSession(String)
  /// There is one already.
  case duplicate(String)
  /// The folder of a new session cannot be entered.
  case noFolder(String)
  /// The program of a new session is not on the login PATH.
  case noHarness(String)
  /// The program of a new session ended at once.
  case endedAtOnce(String)
  /// A file cannot be put on the host: its words.
  case noInbox(String)
  /// Something else, in tmux's words.
  case refused(String)

  /// One line, with what to do; text of the host in it is not escaped yet.
  public var words: String {
    switch self {
    case .call(let failure): failure.words
    case .noTmux:
      "tmux: not on the login PATH of the host (install it, or set PATH in ~/.profile there)"
    case .noSession(let name): "no session \(name)"
    case .duplicate(let name): "session \(name): there is one already"
    case .noFolder(let path): "directory \(path): not there on the host, or not to be entered"
    case .noHarness(let name):
      "\(name): not on the login PATH of the host (install it, or set PATH in ~/.profile there)"
    case .endedAtOnce(let harness): "\(harness): ended as soon as it was started"
    case .noInbox(let why): "on the host: \(why)"
    case .refused(let why): "tmux: \(why)"
    }
  }

  /// What a command returns.
  public var exitStatus: Int32 {
    switch self {
    case .call(let failure): failure.exitStatus
    case .noSession: ExitStatus.negative.rawValue
    default: ExitStatus.failure.rawValue
    }
  }

  /// What tmux's refusal means.
  ///
  /// - Parameters:
  ///   - text: what it said.
  ///   - session: the session that was meant.
  static func of(_ text: String, session: String?) -> TmuxError {
    if let session {
      if isEmptyServer(text) || text.hasPrefix("can't find ") { return .noSession(session) }
      if text.hasPrefix("duplicate session") { return .duplicate(session) }
    }
    return .refused(text.isEmpty ? "failed without a word" : text)
  }

  /// Whether tmux says that it has no sessions, in one of its ways.
  static func isEmptyServer(_ text: String) -> Bool {
    text.hasPrefix("no server running on ") || text == "no sessions"
      || text.hasPrefix("error connecting to ")
        && (text.holds("(No such file or directory)") || text.holds("(Connection refused)"))
  }
}

/// The host's tmux server, called over a link.
public struct RemoteTmux {
  private let calls: HostCalls
  let label: String

  /// - Parameters:
  ///   - calls: the way to the host.
  ///   - label: tmux -L.
  public init(_ calls: HostCalls, label: String) {
    self.calls = calls
    self.label = label
  }

  /// The sessions, in tmux's order, by name. Empty only when the host said so.
  public func sessions() throws(TmuxError) -> [TmuxSession] {
    do throws(TmuxError) {
      return try Self.rows(call(TmuxScript.list, [SessionRows.format], session: nil))
    } catch {
      if case .refused(let text) = error, TmuxError.isEmptyServer(text) { return [] }
      throw error
    }
  }

  /// Makes a session; never attaches to one that is there.
  ///
  /// - Returns: the session as it is when its program has begun.
  public func new(_ start: SessionStart) throws(TmuxError) -> TmuxSession {
    let answer: ControlAnswer
    do throws(TmuxError) {
      answer = try call(
        TmuxScript.new(start), [TmuxWord.target(start.name), SessionRows.format],
        session: start.name)
    } catch .refused(let text) where TmuxError.isEmptyServer(text) {
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

  /// Closes a session, by its exact name.
  ///
  /// - Returns: what the script that removes its worktree said, often nothing.
  @discardableResult
  public func close(_ name: String) throws(TmuxError) -> String {
    let target = try makeSure(name)
    return try call(TmuxScript.close, [target, name], session: name).text
  }

  /// The text that a session's pane shows: a line each, without the empty ones at the
  /// end.
  public func capture(_ name: String) throws(TmuxError) -> [UInt8] {
    let target = try makeSure(name)
    return try call(TmuxScript.capture, [target], session: name).output
  }

  /// Types into a session.
  ///
  /// - Parameter progress: told how many bytes have gone out.
  public func type(
    _ typing: Typing, progress: ((Int) -> Void)? = nil
  ) throws(TmuxError) -> Typing.Outcome {
    guard try makeSure(typing.session) == TmuxWord.target(typing.session) else {
      throw .refused("the name \(typing.session) means another session, too")
    }
    let request = typing.request(label: label, nonce: HostCalls.nonce())
    let answer = try self.answer(
      request, session: typing.session, more: typing.pause, progress: progress)
    return typing.outcome(answer)
  }

  /// Makes sure that tmux takes a name for nothing but the session's: `=a:b` is a
  /// session `a`, `=$1` is a number, and `=pts/1` whatever a client there looks at.
  ///
  /// - Returns: its target, by tmux's own id where no name will do.
  func makeSure(_ name: String) throws(TmuxError) -> String {
    if name.isEmpty || name.holds(":") { throw .noSession(name) }
    guard name.hasPrefix("$") || name.holds("/") else { return TmuxWord.target(name) }
    guard let found = try sessions().first(where: { $0.name == name }) else {
      throw .noSession(name)
    }
    return name.hasPrefix("$") ? found.id + ":" : TmuxWord.target(name)
  }

  func call(
    _ script: String, _ arguments: [String], session: String?
  ) throws(TmuxError) -> ControlAnswer {
    try answer(ControlRequest(script, [label] + arguments), session: session)
  }

  func answer(
    _ request: ControlRequest, session: String?, more: Double = 0, progress: ((Int) -> Void)? = nil
  ) throws(TmuxError) -> ControlAnswer {
    let answer: ControlAnswer
    do throws(ControlFailure) {
      answer = try calls.call(request, more: more, progress: progress)
    } catch {
      throw .call(error)
    }
    switch answer.status {
    case 0: return answer
    case TmuxScript.noTmux: throw .noTmux
    case TmuxScript.noFolder: throw .noFolder("")
    case TmuxScript.noHarness: throw .noHarness("")
    case TmuxScript.noInbox: throw .noInbox(answer.text)
    default: throw TmuxError.of(answer.text, session: session)
    }
  }

  private static func rows(_ answer: ControlAnswer) throws(TmuxError) -> [TmuxSession] {
    guard let sessions = SessionRows.parse(answer.output) else {
      throw .refused("its list of sessions cannot be read")
    }
    return sessions
  }
}

/// What the scripts that call tmux on the host have in common.
enum TmuxScript {
  /// The statuses with which they end when tmux could not do it.
  static let noTmux: Int32 = 70
  static let refused: Int32 = 71
  static let noFolder: Int32 = 72
  static let noHarness: Int32 = 73
  static let noInbox: Int32 = 74

  /// The first lines. They take `$1`, the label, away: `t` is tmux with it, `has`
  /// looks for a session, `fail` says why and ends.
  static let opening = """
    unset TMUX TMUX_PANE
    command -v tmux >/dev/null 2>&1 || exit 70
    label=$1
    shift
    t() { tmux -u -L "$label" "$@"; }
    fail() {
      printf '%s\\n' "$1"
      exit 71
    }
    has() { say=$(t has-session -t "$1" 2>&1) || fail "$say"; }

    """

  static let list =
    opening + """
      say=$(t list-sessions -F "$1" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// The pane's text: `$1` is the target.
  static let capture =
    opening + """
      has "$1"
      say=$(t capture-pane -p -t "$1" 2>&1) || fail "$say"
      printf '%s\\n' "$say"
      """

  /// `$1` is the target, `$2` the name. What the worktree's script says is the answer.
  static let close =
    opening + """
      has "$1"
      tree=$(t show-environment -t "$1" RIFF_WORKTREE 2>/dev/null)
      folder=$(t show-environment -t "$1" RIFF_START_DIR 2>/dev/null)
      say=$(t kill-session -t "$1" 2>&1) || fail "$say"
      if [ "$tree" = RIFF_WORKTREE=1 ] && command -v riff-worktree-remove >/dev/null 2>&1; then
        riff-worktree-remove "$2" "${folder#RIFF_START_DIR=}" </dev/null 2>&1
      fi
      exit 0
      """

  /// A new session, and then the list. Its program need not have begun when tmux
  /// answers: up to half a second is waited until it has.
  ///
  /// `$1` is the target, `$2` the list's format.
  static func new(_ start: SessionStart) -> String {
    let harness = start.firstWord.map { "command -v \($0) >/dev/null 2>&1 || exit \(noHarness)\n" }
    return opening + "cd -- \(start.folderWord) 2>/dev/null || exit \(noFolder)\n"
      + (harness ?? "") + start.preparation + "\n"
      + "say=$(t new-session -d \(start.arguments) 2>&1) || fail \"$say\"\n"
        + """
        i=0
        while [ "$i" -lt 25 ]; do
          case $(t list-panes -t "$1" -F '#{pane_current_command}' 2>/dev/null) in
          '' | tmux* | env | sh) sleep 0.02 || break ;;
          *) break ;;
          esac
          i=$((i + 1))
        done
        say=$(t list-sessions -F "$2" 2>&1) || fail "$say"
        printf '%s\\n' "$say"
        """
  }
}
