/// How a command ends: the same numbers in every command of the suite.
///
/// A signal ends the process by that signal instead, see `Process.die(by:)`.
public enum ExitStatus: Int32, Sendable {
  /// Done.
  case success = 0
  /// The answer is no: nothing matched, no session.
  case negative = 1
  /// Wrong usage, bad input or a local error.
  case failure = 2
  /// Gave up, but a later try may work (EX_TEMPFAIL of sysexits(3)).
  case temporary = 75
  /// Credentials are missing or were refused (EX_NOPERM of sysexits(3)).
  case denied = 77
}
extension ExitStatus {
  /// The worse of two: what no later try can mend is worse than what one may.
  public func worse(_ other: ExitStatus) -> ExitStatus {
    let order: [ExitStatus] = [.success, .negative, .temporary, .failure, .denied]
    let ranks = [self, other].map { order.firstIndex(of: $0) ?? 0 }
    return ranks[1] > ranks[0] ? other : self
  }
}
