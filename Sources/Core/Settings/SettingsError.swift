/// Why a setting, a credential or a state file cannot be used: one line for the
/// user, and how the command ends. Never holds a byte of a secret.
public struct SettingsError: Reported, Equatable, Sendable {
  /// What is at fault and why, lower case: `~/.config/agentutils/token: no such file or directory`.
  public let message: String
  /// `denied` when a credential is missing or was refused, else `failure`.
  public let status: ExitStatus

  /// - Parameters:
  ///   - what: the file, option or setting.
  ///   - reason: lower case, no full stop.
  ///   - status: `denied` for a credential that is missing or refused.
  public init(_ what: String, _ reason: String, _ status: ExitStatus = .failure) {
    message = "\(what): \(reason)"
    self.status = status
  }

  /// What did not work, with its place.
  public init(_ failure: Failure) { self.init(message: failure.words, status: .failure) }

  /// The same, of something that trust or access depends on.
  public var asDenied: SettingsError { SettingsError(message: message, status: .denied) }

  private init(message: String, status: ExitStatus) {
    (self.message, self.status) = (message, status)
  }
}
