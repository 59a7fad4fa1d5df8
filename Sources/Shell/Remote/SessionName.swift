import Core

/// Names of tmux sessions that mean what they say.
public enum SessionName {
  /// The session that is meant where none is named.
  public static let base = "riff"

  /// Takes a name that tmux keeps as it is.
  ///
  /// - Throws: `UsageError` for one that it changes silently (`.`, `:`, `\`), takes
  ///   for a format (`#`, which could run a command), for a target of another kind
  ///   (`$`, `=`) or for an option, and for what is no line of text.
  public static func checked(_ name: String) throws(UsageError) -> String {
    let reason = fault(name)
    if let reason { throw UsageError("session \(name): no name for a session: \(reason)") }
    return name
  }

  private static func fault(_ name: String) -> String? {
    if name.isEmpty { return "empty" }
    if name.utf8.count > 200 { return "too long" }
    if ShellWord.holdsControls(name) { return "control characters" }
    if name.hasPrefix("-") || name.hasPrefix("=") { return "begins with \(name.prefix(1))" }
    return name.first { ".:#$\\".contains($0) }.map { "\($0) in it" }
  }
}
