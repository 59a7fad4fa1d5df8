import Core
import Shell

/// The jobs that look after sessions without sitting down at one.
enum ManageCommand {
  /// Does the job of the options.
  ///
  /// - Returns: the exit status.
  /// - Throws: `UsageError` for options that do not fit.
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws(UsageError) -> Int32
  {
    diagnostics.fail("not built yet")
  }
}
