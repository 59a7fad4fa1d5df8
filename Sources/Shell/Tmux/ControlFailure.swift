import Core

/// Why the host gave no answer to a call. None of these is an answer: nothing may
/// be concluded from them about what is on the host.
public enum ControlFailure: Error, Equatable, Sendable {
  /// The link could not be made or kept, or the remote command was ended by a signal.
  case link(Ending)
  /// The answer ended before its end: the last line of what was said on
  /// standard error, and what had come of the answer.
  case cutShort(says: String, part: [UInt8])
  /// Nothing happened for so long.
  case late(seconds: Double, part: [UInt8])
  /// A signal to this process.
  case interrupted(signal: Int32)
  /// Something on this machine, or an answer of no sensible size.
  case local(why: String)

  /// One line, lower case; text of the host in it is not escaped yet.
  public var words: String {
    switch self {
    case .link(let ending): ending.words
    case .cutShort(let says, _):
      "the answer was cut short" + (says.isEmpty ? "" : ": " + says)
    case .late(let seconds, _): "no answer within \(DurationWords.seconds(seconds))"
    case .interrupted: "interrupted"
    case .local(let why): why
    }
  }

  /// What a command returns that gets no answer.
  public var exitStatus: Int32 {
    switch self {
    case .link(.remoteExit), .link(.remoteSignal), .link(.closed), .cutShort, .late:
      ExitStatus.temporary.rawValue
    case .link(let ending): ending.exitStatus
    case .interrupted(let signal): 128 + signal
    case .local: ExitStatus.failure.rawValue
    }
  }

  /// Whether a new link may bring the answer.
  public func isWorthRetry(afterSuccess: Bool) -> Bool {
    switch self {
    case .link(let ending): ending.isWorthRetry(afterSuccess: afterSuccess)
    case .cutShort, .late: afterSuccess
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
}

/// Seconds in messages.
enum DurationWords {
  /// `9 s`, `0.5 s`.
  static func seconds(_ value: Double) -> String {
    let tenths = Int((min(max(value, 0), 1e9) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
  }
}
