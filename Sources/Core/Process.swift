import CLibc

/// The few ways in which a command leaves.
public enum Process {
  /// Ends the process with a status of the suite, and with the terminal as it was found.
  /// Buffers are the caller's: flush first. The libraries put nothing in order: TLS alone
  /// takes a millisecond to forget what it never used.
  public static func exit(_ status: ExitStatus) -> Never { exit(code: status.rawValue) }

  /// The same, with a status that came from elsewhere.
  public static func exit(code: Int32) -> Never { clibc_exit(code) }

  /// Ends the process with a status at once. For a command that holds no terminal.
  public static func exitAtOnce(_ status: ExitStatus) -> Never { _exit(status.rawValue) }

  /// Ends the process by a signal's default action, so that the parent sees
  /// the signal and not a number. Used for a closed pipe (SIGPIPE) and after
  /// cleaning up on INT, TERM or HUP.
  public static func die(by signal: Int32) -> Never {
    clibc_die_by_signal(signal)
    CLibc.exit(128 + signal)
  }

  /// The value of an environment variable, nil when unset or empty. It may be, or
  /// hold, the name of a file: see `FileName`.
  public static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return FileName.text(value)
  }

  /// The words of the command line after the command's name. Each may be the name
  /// of a file: see `FileName`.
  public static var arguments: [String] {
    let given = CommandLine.unsafeArgv
    return meant
      ?? (0..<Int(CommandLine.argc)).dropFirst(isCommandNamed ? 2 : 1).compactMap {
        given[$0].map { FileName.text($0) }
      }
  }

  /// What the process is called: the last part of the path of its program.
  public static var name: String {
    let path = CommandLine.arguments.first ?? ""
    return path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The path that was given to execve(2), links and all; nil where the system does not say.
  public static var startedPath: String? { clibc_started_path().map { FileName.text($0) } }

  nonisolated(unsafe) private static var isCommandNamed = false

  /// From now on `arguments` begin behind their first word: it named one of several commands.
  /// Called once, before anything else runs.
  static func takeCommand() { isCommandNamed = true }

  nonisolated(unsafe) private static var meant: [String]?

  /// From now on these are `arguments`. Called once, before anything else runs.
  static func mean(_ words: [String]) { meant = words }
}
