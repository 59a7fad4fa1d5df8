import CLibc
import Core

/// The signals that end a watch after the terminal was given back, and those
/// of a terminal.
struct WatchSignals {
  /// What came since the last look.
  struct Taken {
    var ending: Int32?
    var isResized = false
    var isStopped = false
    var isContinued = false
  }

  /// Starts watching; what the parent had ignored stays ignored. A closed pipe
  /// is left to the write that meets it.
  ///
  /// - Parameter terminal: whether there is a screen to redraw.
  init(terminal: Bool) {
    for number in [SIGINT, SIGTERM, SIGHUP] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_watch(number)
    }
    clibc_signal_ignore(SIGPIPE)
    guard terminal else { return }
    for number in [SIGWINCH, SIGCONT] { _ = clibc_signals_note(number) }
    if !clibc_signal_is_ignored(SIGTSTP) { _ = clibc_signals_note(SIGTSTP) }
  }

  /// Readable when a signal came.
  var descriptor: Int32 { clibc_signals_fd() }

  /// Whether a signal came.
  var isPending: Bool { Self.isReadable(descriptor) }

  /// Takes what came.
  func take() -> Taken {
    var taken = Taken()
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      switch Int32(byte) {
      case SIGWINCH: taken.isResized = true
      case SIGTSTP: taken.isStopped = true
      case SIGCONT: taken.isContinued = true
      default: taken.ending = taken.ending ?? Int32(byte)
      }
    }
    return taken
  }

  /// Whether a read of the file would not wait.
  static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}

/// Standard output, seen from the other end.
enum OutputPipe {
  /// Whether the reader has gone away.
  static var isClosed: Bool {
    var entry = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }
}
