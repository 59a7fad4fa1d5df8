import Core
import Web

/// Why the backend's answer could not be had: one line, and how to leave.
public struct CallFailure: Error, Equatable {
  /// One line, lower case: `http://127.0.0.1:8787/api/health: 401 Unauthorized: ...`.
  public let message: String
  /// How the command ends.
  public let status: ExitStatus

  /// - Parameters:
  ///   - what: the address or the command.
  ///   - reason: one line, lower case, no full stop.
  ///   - status: how the command ends.
  public init(_ what: String, _ reason: String, _ status: ExitStatus) {
    message = "\(what): \(reason)"
    self.status = status
  }

  /// A setting that stands in the way.
  public init(_ error: SettingsError) {
    message = error.message
    status = error.status
  }
}
