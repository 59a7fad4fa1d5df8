import CLibc

/// The signals that end a command after it has left things in order.
public enum EndSignals {
  /// Watches INT, TERM and HUP, but not one that the parent had ignored (HUP under
  /// nohup, INT in the background of a script). Closed pipes and sockets are left to
  /// the write that meets one: libraries would otherwise end the process for a closed
  /// socket.
  ///
  /// - Parameter withQuit: whether QUIT is watched, too: for whoever has a child in a group
  ///   of its own, which QUIT of the terminal does not reach.
  public static func watch(withQuit: Bool = false) {
    let numbers = [SIGINT, SIGTERM, SIGHUP] + (withQuit ? [SIGQUIT] : [])
    for number in numbers where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_watch(number)
    }
    clibc_signal_ignore(SIGPIPE)
  }

  /// Readable when one came.
  public static var descriptor: Int32 { clibc_signals_fd() }

  /// Whether one waits for `next`.
  public static var hasPending: Bool { isReadable(descriptor) }

  /// The one that came, nil if none did.
  public static func next() -> Int32? {
    var number: UInt8 = 0
    return read(descriptor, &number, 1) == 1 ? Int32(number) : nil
  }
}
