import CLibc
public import Core

/// The terminal of a full-screen program: keys come without Enter and unseen (^C, ^Z
/// and ^\ are still signals), frames go out with one write(2) each, and whatever ends
/// the process leaves the terminal as it was found.
public final class Terminal {
  /// Where keys are read.
  public let input: Int32
  /// Where frames go.
  public let output: Int32
  private let ownsInput: Bool
  private var isEntered = false

  /// Takes the terminal of standard output, with its keys from standard input
  /// or, when that is something else, from the terminal itself.
  ///
  /// - Parameter usesStandardInput: false when standard input is read for records.
  /// - Returns: nil when standard output is not a terminal that can place the cursor,
  ///   or keys cannot be read.
  public init?(usesStandardInput: Bool = true) {
    guard Self.canDraw(1) else { return nil }
    output = 1
    if usesStandardInput && isatty(0) == 1 {
      input = 0
      ownsInput = false
      return
    }
    // By name first: macOS cannot poll /dev/tty.
    let name = ttyname(1).map { String(cString: $0) } ?? "/dev/tty"
    var opened = clibc_open(name, O_RDONLY | O_NOCTTY)
    if opened < 0 { opened = clibc_open("/dev/tty", O_RDONLY | O_NOCTTY) }
    guard opened >= 0 else { return nil }
    input = opened
    ownsInput = true
  }

  deinit {
    leave()
    if ownsInput { close(input) }
  }

  /// Whether a file is a terminal that can place the cursor: not one that TERM
  /// calls `dumb` or does not name.
  public static func canDraw(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1, let kind = Process.environment("TERM") else { return false }
    return kind != "dumb"
  }

  /// The window's size, 80 by 24 when the terminal does not tell.
  public var size: WindowSize { WindowSize(of: output) }

  /// Begins: keys one by one, the alternate screen.
  ///
  /// - Throws: `WriteFailure` when the terminal has gone.
  public func enter() throws(WriteFailure) {
    guard !isEntered else { return }
    let leaving = TerminalCodes.leave
    // From here on the guard undoes everything, whatever happens next.
    guard clibc_terminal_guard(input, output, leaving, leaving.utf8.count) == 0
    else { throw WriteFailure(code: systemError) }
    isEntered = true
    try show(TerminalCodes.enter)
  }

  /// Ends: the terminal is as it was found. Does nothing when it is already.
  public func leave() {
    guard isEntered else { return }
    isEntered = false
    clibc_terminal_restore()
  }

  /// Stops the process as ^Z asks, with the terminal as it was found, and begins
  /// again when it goes on; the screen is empty then.
  ///
  /// - Throws: `WriteFailure` when the terminal has gone.
  public func suspend() throws(WriteFailure) {
    leave()
    clibc_stop()
    try enter()
  }

  /// Writes a frame, with one write(2) as long as the terminal takes it whole.
  ///
  /// - Parameters:
  ///   - frame: nothing is written when it is empty.
  ///   - interrupted: asked when a signal came while the terminal is slow; true
  ///     gives up the rest.
  /// - Throws: `WriteFailure`, with `EINTR` when interrupted.
  public func show(
    _ frame: String, interrupted: () -> Bool = { false }
  ) throws(WriteFailure) {
    try Array(frame.utf8).withUnsafeBufferPointer { bytes throws(WriteFailure) in
      try writeAll(UnsafeRawBufferPointer(bytes), to: output, interrupted: interrupted)
    }
  }

  /// Whether keys wait, or the terminal has gone: `read` would not block.
  public var isReadable: Bool { Core.isReadable(input) }

  /// The bytes of keys that wait; nil when the terminal has gone. Blocks when
  /// there are none.
  public func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = CLibc.read(input, &bytes, bytes.count)
    if count < 0 && (systemError == EINTR || systemError == EAGAIN) { return [] }
    return count > 0 ? Array(bytes[..<count]) : nil
  }
}

/// The control sequences that a full-screen program sends (ECMA-48, and the
/// private modes of xterm's ctlseqs). A terminal ignores private modes that it
/// does not know.
public enum TerminalCodes {
  /// The alternate screen with the cursor kept (1049), no cursor (25), and no
  /// wrap (7): a row that a terminal thinks too wide must not push the next one down.
  public static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
  /// Undoes `enter`, whatever the frame before left on.
  public static let leave = "\u{1b}[?2026l\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
  /// A synchronised update begins (2026): nothing is shown until `endUpdate`.
  public static let beginUpdate = "\u{1b}[?2026h"
  /// What was written since `beginUpdate` is shown at once.
  public static let endUpdate = "\u{1b}[?2026l"
  /// From the cursor to the end of the line, with the default background (EL).
  public static let eraseRight = "\u{1b}[K"
  /// From the cursor to the end of the screen (ED).
  static let eraseBelow = "\u{1b}[J"

  /// The cursor to the beginning of a row (CUP).
  ///
  /// - Parameter row: 0 is the first.
  public static func row(_ row: Int) -> String { "\u{1b}[\(row + 1);1H" }

  /// The cursor to a column of its row (CHA).
  static func column(_ column: Int) -> String { "\u{1b}[\(column + 1)G" }
}

/// The signals that a command handles with the terminal: those that end it, and the window's.
public final class TerminalSignals {
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

  /// What `isEnding` found.
  private var pending = Taken()

  /// Starts watching; one that the parent had ignored stays ignored.
  ///
  /// - Parameters:
  ///   - window: whether there is a screen to redraw; else only the signals that end are
  ///     watched.
  ///   - stops: whether the screen is to be left before a stop.
  public init(window: Bool, stops: Bool = true) {
    EndSignals.watch()
    guard window else { return }
    let numbers = stops ? [SIGWINCH, SIGTSTP, SIGCONT] : [SIGWINCH]
    for number in numbers where !clibc_signal_is_ignored(number) {
      _ = clibc_signals_note(number)
    }
  }

  /// Readable when a signal came.
  public var descriptor: Int32 { EndSignals.descriptor }

  /// Waits until the file can be read, a signal came, or the time is over; whether the file can
  /// be read. A signal comes before what can be read.
  public func wait(for file: Int32, milliseconds: Int32) -> Bool {
    var entries = [file, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    return poll(&entries, 2, milliseconds) > 0 && entries[0].revents != 0
      && entries[1].revents == 0
  }

  /// Whether one that ends the process came; asked by writes that wait. All that came stays to be
  /// taken.
  public var isEnding: Bool {
    pending = take()
    return pending.ending != nil
  }

  /// Takes what came.
  public func take() -> Taken {
    var taken = pending
    pending = Taken()
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
