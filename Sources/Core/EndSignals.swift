import CLibc

/// The signals that end a command after it has left things in order.
public enum EndSignals {
  /// Watches INT, TERM and HUP, but not one that the parent had ignored (HUP under
  /// nohup, INT in the background of a script), and leaves closed pipes and sockets
  /// to the write that meets one.
  public static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_watch(number)
    }
    clibc_signal_ignore(SIGPIPE)
  }

  /// Readable when one came.
  public static var descriptor: Int32 { clibc_signals_fd() }

  /// The one that came, nil if none did.
  public static func next() -> Int32? {
    var number: UInt8 = 0
    return read(descriptor, &number, 1) == 1 ? Int32(number) : nil
  }
}
