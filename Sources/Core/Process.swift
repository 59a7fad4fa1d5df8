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

  /// The value of an environment variable, nil when unset or empty.
  public static func environment(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// The words of the command line after the command's name.
  public static var arguments: [String] { Array(CommandLine.arguments.dropFirst()) }

  /// Paths as they were given, byte for byte and with the zero behind: a name need not
  /// be UTF-8, and a word that is not has been repaired.
  ///
  /// - Parameter words: of `arguments`, in their order.
  public static func paths(_ words: [String]) -> [[CChar]] {
    let given = CommandLine.unsafeArgv
    var next = 1
    return words.map { word in
      let text = Array(word.utf8)
      var index = next
      while index < Int(CommandLine.argc), let raw = given[index] {
        index += 1
        if text.elementsEqual(String(cString: raw).utf8) {
          next = index
          return Array(UnsafeBufferPointer(start: raw, count: strlen(raw) + 1))
        }
      }
      return word.utf8CString.map { $0 }
    }
  }
}
