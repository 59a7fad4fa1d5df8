import Core

/// What an answer that is no success means: a line for the user, and how a
/// command that asked for it ends.
public struct AnswerProblem: Error, Equatable, Sendable {
  /// One line, to be shown behind the address: `404 Not Found: no such path`.
  public let line: String
  /// `denied` for credentials, `temporary` when a retry may work, `negative`
  /// when the backend's answer is no, else `failure`.
  public let status: ExitStatus

  /// - Parameters:
  ///   - line: one line, lower case, no full stop.
  ///   - status: how the command ends.
  public init(_ line: String, _ status: ExitStatus) {
    self.line = line
    self.status = status
  }
}
