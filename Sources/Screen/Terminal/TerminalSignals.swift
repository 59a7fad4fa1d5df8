import CLibc
import Core

/// The signals that a command heeds while it holds the terminal: those that end it, and
/// those of a window.
public struct TerminalSignals {
  /// What came since the last look.
  public struct Taken {
    /// The process is to end by this signal.
    public var ending: Int32?
    /// The window has another size (WINCH).
    public var isResized = false
    /// The process is to stop (TSTP).
    public var isStopped = false
    /// The process goes on after a stop (CONT).
    public var isContinued = false
  }

  /// Starts watching; one that the parent had ignored stays ignored.
  ///
  /// - Parameter window: whether there is a screen to redraw; else only the signals that
  ///   end are watched.
  public init(window: Bool) {
    EndSignals.watch()
    guard window else { return }
    for number in [SIGWINCH, SIGTSTP, SIGCONT] where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_note(number)
    }
  }

  /// Readable when a signal came.
  public var descriptor: Int32 { EndSignals.descriptor }

  /// Takes what came.
  public func take() -> Taken {
    var taken = Taken()
    while let number = EndSignals.next() {
      switch number {
      case SIGWINCH: taken.isResized = true
      case SIGTSTP: taken.isStopped = true
      case SIGCONT: taken.isContinued = true
      default: taken.ending = taken.ending ?? number
      }
    }
    return taken
  }
}
