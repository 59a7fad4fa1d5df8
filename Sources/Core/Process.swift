import CLibc

/// The few ways in which a command leaves.
public enum Process {
  /// Ends the process with a status of the suite. Buffers are the caller's: flush first.
  public static func exit(_ status: ExitStatus) -> Never {
    CLibc.exit(status.rawValue)
  }

  /// Ends the process with a status at once, without the cleaning up of
  /// libraries: TLS alone takes a millisecond to forget what it never used. For
  /// a command that has written nothing and holds no terminal.
  public static func exitAtOnce(_ status: ExitStatus) -> Never {
    _exit(status.rawValue)
  }

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
    return (0..<Int(CommandLine.argc)).dropFirst().compactMap {
      given[$0].map { FileName.text($0) }
    }
  }
}
