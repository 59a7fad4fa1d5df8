import CLibc

/// The signals that must not end the command before its line of stats is
/// erased, and the change of the window's size.
struct Signals {
  private static let ending = [SIGINT, SIGTERM, SIGHUP]

  /// Starts watching; from now on these signals only write into a pipe.
  init() {
    for signal in Self.ending + [SIGWINCH] { _ = clibc_signals_watch(signal) }
  }

  /// What came since the last call.
  func take() -> (ending: Int32?, isResized: Bool) {
    var ending: Int32?
    var isResized = false
    var byte: UInt8 = 0
    while read(clibc_signals_fd(), &byte, 1) == 1 {
      if Int32(byte) == SIGWINCH { isResized = true } else { ending = ending ?? Int32(byte) }
    }
    return (ending, isResized)
  }

  /// Waits until the file can be read, a signal came, or the time is over.
  ///
  /// - Returns: whether the file can be read.
  func wait(for descriptor: Int32, milliseconds: Int32) -> Bool {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: clibc_signals_fd(), events: Int16(POLLIN), revents: 0),
    ]
    return poll(&entries, 2, milliseconds) > 0 && entries[0].revents != 0
  }
}
