import Core

/// Why a host did not do what it was asked: one failure on the whole way from the
/// socket to the command. What happens next is decided by its case alone; its reason
/// is for people.
public enum HostFailure: Error, Equatable, Sendable {
  // MARK: The connection

  /// No connection: name not found, refused, no route, time-out, no SSH server.
  case connectFailed(why: String)
  /// The connection broke after it had been made: reset, closed, a protocol error.
  case linkLost(why: String)
  /// Nothing came for this long, not even an answer to a keepalive.
  case silent(seconds: Double)
  /// Client and host have no algorithm in common; which, with both lists where known.
  case noCommonAlgorithm(detail: String)
  /// The host has another key than the pinned one, or a revoked one. `explanation`
  /// is what the user reads, line by line: the warning, both fingerprints, where
  /// the pin is, how to pin anew.
  case hostKeyChanged(explanation: [String])
  /// The host's key is not known and may not be taken on trust, or the pins
  /// cannot be read.
  case hostKeyUnknown(why: String)
  /// The host took none of the keys; the methods that were tried, in order.
  case authFailed(tried: [String])

  // MARK: The answer. From these nothing may be concluded about what is on the host.

  /// The answer ended too early: the last line of what was said on standard error, and
  /// what had come of the answer.
  case cutShort(says: String, part: [UInt8])
  /// The user's shell on the host ended before it ran anything: what it said.
  case noShell(says: String)
  /// Nothing happened for so long.
  case late(seconds: Double, part: [UInt8])

  // MARK: tmux on the host

  /// tmux is not on the login PATH.
  case noTmux
  /// No session has this name.
  case noSession(String)
  /// A session has this name already.
  case duplicate(String)
  /// The folder of a new session cannot be entered.
  case noFolder(String)
  /// The program of a new session is not on the login PATH.
  case noHarness(String)
  /// There can be no worktree for a new session; whether there may be one the next time.
  case noWorktree(why: String, isFinal: Bool)
  /// The program of a new session ended at once.
  case endedAtOnce(String)
  /// The host's tmux server is ending, and so makes no session, but has not gone yet.
  case serverEnding
  /// The agent in a session is not idle: how it stands instead.
  case busy(String, state: String)
  /// The agent in a session asks something, and would take any text for the answer.
  case asks(String)
  /// The agent in a session would run a text as a command of the shell.
  case command(String)
  /// The agent in a session offers nothing that could be chosen.
  case noChoice(String, why: String)
  /// Nobody says how the agent in a session stands.
  case stateUnknown(String)
  /// Nobody says where the agent in a session is, or it is there no more.
  case noAgentPane(String, why: String)
  /// A file cannot be put on the host: its words.
  case noInbox(String)
  /// The text was typed, but Return may be missing, for this reason.
  indirect case onlyTyped(HostFailure)
  /// Something else, in tmux's words.
  case refused(String)

  // MARK: This machine

  /// A key file, a program that is not there.
  case local(why: String)
  /// This one call cannot be made: the file to send is not what it was, or the answer is
  /// of no sensible size. The link is as good as before.
  case unfit(why: String)
  /// A signal to this process.
  case interrupted(signal: Int32)
  /// We ended it.
  case closed
}

extension HostFailure {
  /// What a host says that has seen more keys than its MaxAuthTries.
  public static let tooManyKeys = "Too many authentication failures"

  static let tooLong = unfit(why: "the command is too long")

  /// The reason in words, one line, lower case, without a full stop, and with what to do.
  /// Text of the host in it is not escaped yet.
  public var reason: String {
    switch self {
    case .connectFailed(let why), .hostKeyUnknown(let why), .local(let why), .unfit(let why): why
    case .linkLost(let why): "connection lost: \(why)"
    case .silent(let seconds): "connection lost: nothing heard for \(Int(seconds.rounded())) s"
    case .noCommonAlgorithm(let detail): "no common algorithm: \(detail)"
    case .hostKeyChanged(let lines): lines.first ?? "host key changed"
    case .authFailed(let tried) where tried.last?.holds(Self.tooManyKeys) == true:
      "access refused (tried \(tried.joined(separator: ", "))); name the key that the host knows: "
        + "-i KEY.pub"
    case .authFailed(let tried):
      "access refused (tried \(tried.isEmpty ? "nothing" : tried.joined(separator: ", ")))"
        + "; tmux-attach --check says what to do"
    case .cutShort(let says, _): "the answer was cut short" + (says.isEmpty ? "" : ": " + says)
    case .noShell(let says):
      "the login shell there ran no command: \(says)"
        + " (its kind, an exec or exit in its login files, or a ForceCommand)"
    case .late(let seconds, _): "no answer within \(Self.words(seconds))"
    case .noTmux:
      "tmux: not on the login PATH of the host (install it, or set PATH in ~/.profile there)"
    case .noSession(let name): "no session \(name)"
    case .duplicate(let name): "session \(name): already exists"
    case .noFolder(let path): "directory \(path): not there on the host, or cannot be entered"
    case .noHarness(let name):
      "\(name): not on the login PATH of the host (install it, or set PATH in ~/.profile there)"
    case .endedAtOnce(let harness): "\(harness): ended as soon as it was started"
    case .noWorktree(let why, _): why
    case .serverEnding: "tmux: the server is still ending; try again"
    case .busy(let name, let state): "session \(name): still \(state)"
    case .asks(let name):
      "session \(name): its agent asks something, and nothing was typed (agent-say --answer answers)"
    case .command(let name):
      "session \(name): its agent would run a line that begins with ! in a shell (--command lets it)"
    case .stateUnknown(let name):
      "session \(name): nothing says whether its agent is idle; see agent-state(1)"
    case .noAgentPane(let name, let why), .noChoice(let name, let why): "session \(name): \(why)"
    case .noInbox(let why): "on the host: \(why)"
    case .onlyTyped(let failure):
      "the text was typed, but Return may be missing: \(failure.reason)"
    case .refused(let why): "tmux: \(why)"
    case .interrupted: "interrupted"
    case .closed: "closed"
    }
  }

  /// What a person is told: the explanation of a changed key, else one line.
  ///
  /// - Parameter name: the host, as the user calls it.
  public func lines(of name: String) -> [String] {
    if case .hostKeyChanged(let lines) = self { return lines }
    return ["\(name): \(reason)"]
  }

  /// What a command returns that ends for this reason; 128 more than the number of a
  /// signal.
  public var exitStatus: Int32 {
    switch self {
    case .onlyTyped(let failure): failure.exitStatus
    case .interrupted(let signal): 128 + signal
    case .connectFailed, .linkLost, .silent, .cutShort, .late, .closed, .busy, .asks,
      .serverEnding:
      ExitStatus.temporary.rawValue
    case .noWorktree(_, isFinal: false): ExitStatus.temporary.rawValue
    case .hostKeyChanged, .hostKeyUnknown, .authFailed: ExitStatus.denied.rawValue
    case .noSession, .stateUnknown, .noAgentPane, .noChoice: ExitStatus.negative.rawValue
    default: ExitStatus.failure.rawValue
    }
  }

  /// Whether to connect again without being asked.
  ///
  /// - Parameter afterSuccess: whether the link has been up before: only then is a
  ///   failure to connect worth another try, and one to agree, as what comes before the
  ///   keys may be damaged on the way.
  public func isWorthRetry(afterSuccess: Bool) -> Bool {
    switch self {
    case .linkLost, .silent: true
    case .connectFailed, .noCommonAlgorithm, .cutShort, .late: afterSuccess
    default: false
    }
  }

  /// What had come of the answer.
  public var part: [UInt8] {
    switch self {
    case .cutShort(_, let part), .late(_, let part): part
    default: []
    }
  }

  private static func words(_ seconds: Double) -> String {
    let tenths = Int((min(max(seconds, 0), 1e9) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }
}
