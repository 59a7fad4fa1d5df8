import CLibc
import Core

/// The signals that end sse-tail after it has saved its state.
enum Signals {
  /// Watches INT, TERM and HUP, but not one that the parent had ignored (HUP
  /// under nohup, INT in the background of a script), and leaves closed pipes to the write that meets one: libcurl's TLS would
  /// otherwise end the process for a closed socket.
  static func watch() {
    for number in [SIGINT, SIGTERM, SIGHUP] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_watch(number)
    }
    clibc_signal_ignore(SIGPIPE)
  }

  /// Readable when a signal came.
  static var descriptor: Int32 { clibc_signals_fd() }

  /// Whether a signal waits for `next`.
  static var hasPending: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// The signal that came, nil if none did.
  static func next() -> Int32? {
    var number: UInt8 = 0
    return read(descriptor, &number, 1) == 1 ? Int32(number) : nil
  }
}

/// Standard output, seen from the other end.
enum Output {
  /// Whether the reader of a pipe or socket has gone away (systems differ in
  /// how they say so), or the terminal has.
  static var isClosed: Bool {
    var entry = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }

  /// Whether a write would not wait.
  static var isWritable: Bool {
    var entry = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}
