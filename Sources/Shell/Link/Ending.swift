import Core

/// Why a channel, or the link under it, ended. What happens next is decided by
/// this alone: nobody reads messages.
public enum Ending: Equatable, Sendable {
  /// The remote command ended by itself, with this status (0 to 255).
  case remoteExit(status: Int32)
  /// A signal ended the remote command: its name without `SIG`.
  case remoteSignal(name: String)
  /// The link broke after it had been made: reset, closed, a protocol error.
  case linkLost(why: String)
  /// Nothing came for this long, not even an answer to a keepalive.
  case silent(seconds: Double)
  /// The host has another key than the pinned one, or a revoked one. `explanation`
  /// is what the user reads, line by line: the warning, both fingerprints, where
  /// the pin is, how to pin anew.
  case hostKeyChanged(explanation: [String])
  /// The host's key is not known and may not be taken on trust, or the pins
  /// cannot be read.
  case hostKeyUnknown(why: String)
  /// The host took none of the keys; the methods that were tried, in order.
  case authFailed(tried: [String])
  /// Client and host have no algorithm in common; which, with both lists where known.
  case noCommonAlgorithm(detail: String)
  /// No connection: name not found, refused, no route, time-out, no SSH server.
  case connectFailed(why: String)
  /// Something on this machine: a key file, a program that is not there.
  case local(why: String)
  /// We ended it.
  case closed
}

extension Ending {
  /// Whether to connect again by itself.
  ///
  /// - Parameter afterSuccess: whether the link has been up before: only then is a
  ///   failure to connect worth another try, and one to agree, as what comes before the
  ///   keys may be damaged on the way.
  public func isWorthRetry(afterSuccess: Bool) -> Bool {
    switch self {
    case .linkLost, .silent: true
    case .connectFailed, .noCommonAlgorithm: afterSuccess
    default: false
    }
  }

  /// What a command that ends for this reason returns; the remote's own status
  /// where there is one, 128 more than the number of a signal.
  public var exitStatus: Int32 {
    switch self {
    case .remoteExit(let status): status
    case .remoteSignal(let name): 128 + Self.signalNumber(name)
    case .linkLost, .silent, .connectFailed: ExitStatus.temporary.rawValue
    case .hostKeyChanged, .hostKeyUnknown, .authFailed: ExitStatus.denied.rawValue
    case .noCommonAlgorithm, .local: ExitStatus.failure.rawValue
    case .closed: ExitStatus.success.rawValue
    }
  }

  /// The reason in words, one line, lower case, without a full stop. Text of the
  /// host in it is not escaped yet.
  public var words: String {
    switch self {
    case .remoteExit(let status): "remote command ended with status \(status)"
    case .remoteSignal(let name): "remote command ended by signal \(name)"
    case .linkLost(let why): "connection lost: \(why)"
    case .silent(let seconds): "connection lost: nothing heard for \(Int(seconds.rounded())) s"
    case .hostKeyChanged(let lines): lines.first ?? "host key changed"
    case .hostKeyUnknown(let why): why
    case .authFailed(let tried):
      "access refused (tried \(tried.isEmpty ? "nothing" : tried.joined(separator: ", ")))"
        + "; tmux-attach --check says what to do"
    case .noCommonAlgorithm(let detail): "no common algorithm: \(detail)"
    case .connectFailed(let why): why
    case .local(let why): why
    case .closed: "closed"
    }
  }

  /// The end of a command on this machine, by the number of a signal.
  static func ended(bySignal number: Int32) -> Ending {
    .remoteSignal(name: signalNumbers.first { $0.value == number }?.key ?? "\(number)")
  }

  /// The names that go over the wire (RFC 4254, 6.10), and what they are nearly everywhere.
  private static let signalNumbers: [String: Int32] = [
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "SEGV": 11,
    "PIPE": 13, "ALRM": 14, "TERM": 15,
  ]

  /// A host may say anything: what is no signal counts as TERM.
  private static func signalNumber(_ name: String) -> Int32 {
    if let known = signalNumbers[name] { return known }
    guard let number = Int32(name), 1...64 ~= number else { return 15 }
    return number
  }
}
