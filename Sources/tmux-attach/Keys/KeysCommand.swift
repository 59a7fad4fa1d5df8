import Core
import Shell

/// The jobs about keys and trust: --fingerprint, --forget, --authorize, --check.
enum KeysCommand {
  /// Does the job of the options.
  ///
  /// - Returns: the exit status.
  /// - Throws: `UsageError` for options that do not fit.
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws(UsageError) -> Int32
  {
    diagnostics.fail("not built yet")
  }
}
