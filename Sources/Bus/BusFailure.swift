public import Core

/// Why a bus cannot be used: one line for the user, and how the command ends. Never holds a byte
/// of a secret.
public struct BusFailure: Reported, Equatable, Sendable {
  /// What is at fault and why, lower case.
  public let message: String
  /// How the command ends.
  public let status: ExitStatus

  /// - Parameters:
  ///   - what: the server, the stream or the file.
  ///   - reason: lower case, no full stop.
  ///   - status: `denied` for what keeps us out, `temporary` for what may pass.
  public init(_ what: String, _ reason: String, _ status: ExitStatus = .failure) {
    message = "\(what): \(reason)"
    self.status = status
  }

  /// - Parameter error: a setting that cannot be used.
  public init(_ error: SettingsError) {
    message = error.message
    status = error.status
  }
}
