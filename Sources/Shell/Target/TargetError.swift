import Core

/// Why it cannot be told what to connect to.
public enum TargetError: Error, Equatable, Sendable {
  /// What the command line says is no host, or it says none.
  case usage(UsageError)
  /// The configuration, or a file of ours.
  case settings(SettingsError)
}

extension Diagnostics {
  /// Says why and leaves: a usage error with the usage line.
  public func fail(_ error: TargetError, _ table: OptionTable<ParsedOptions>) -> Never {
    switch error {
    case .usage(let error): usage(error.problem, table)
    case .settings(let error): fail(error.message, error.status)
    }
  }
}
