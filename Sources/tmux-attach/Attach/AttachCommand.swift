import Core
import Shell

/// Sits down at a session.
enum AttachCommand {
  /// Attaches, and stays.
  ///
  /// - Returns: the exit status.
  /// - Throws: `UsageError` for options that do not fit.
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws(UsageError) -> Int32
  {
    _ = try SessionStart(
      name: options.session, directory: options.directory, harness: options.harness,
      usesWorktree: options.usesWorktree)
    diagnostics.fail("not built yet")
  }
}
