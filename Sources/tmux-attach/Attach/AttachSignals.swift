import CLibc

/// The signals that an attached terminal heeds, as bytes of a pipe.
struct AttachSignals {
  /// What came.
  struct Taken {
    /// The process is to end by this signal.
    var ending: Int32?
    var isResized = false
    var isStopping = false
    var isContinued = false
  }

  /// Starts watching; one that is ignored stays so.
  init() {
    for number in [SIGHUP, SIGINT, SIGTERM] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_watch(number)
    }
    for number in [SIGWINCH, SIGTSTP, SIGCONT] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_note(number)
    }
    // The far end may close before what is written has arrived.
    clibc_signal_ignore(SIGPIPE)
  }

  /// What a poll waits for.
  var descriptor: Int32 { clibc_signals_fd() }

  /// What came since the last time.
  func take() -> Taken {
    var taken = Taken()
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      switch Int32(byte) {
      case SIGWINCH: taken.isResized = true
      case SIGTSTP: taken.isStopping = true
      case SIGCONT: taken.isContinued = true
      case let number: taken.ending = taken.ending ?? number
      }
    }
    return taken
  }
}
