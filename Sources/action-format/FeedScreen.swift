import CLibc
import Core
import Screen

/// Where the lines go: standard output, with the line of stats kept below the
/// rows when that is a terminal.
///
/// On a terminal the line is drawn without a line end and erased before the
/// next row and at the end. Elsewhere it is a line like others, written when
/// the input pauses or ends and the stats changed since.
final class FeedScreen {
  private let writer: RecordWriter
  private let depth: ColourDepth
  private let isTerminal: Bool
  private let fixedWidth: Int?
  private var bar: Line?
  private var isDrawn = false
  private var wasDrawn = false
  private var printed: Line?

  init(_ options: FormatOptions, interrupted: @escaping () -> Bool) {
    writer = RecordWriter(interrupted: interrupted)
    isTerminal = isatty(1) == 1
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    fixedWidth = options.look.width
  }

  /// Whether the stats are drawn in place: a terminal that can erase a line.
  var drawsInPlace: Bool {
    guard isTerminal, let kind = Process.environment("TERM") else { return false }
    return kind != "dumb"
  }

  /// The cells of a row: as asked for, else the terminal's, else no limit.
  var width: Int? {
    if let fixedWidth { return fixedWidth == 0 ? nil : fixedWidth }
    return terminalWidth
  }

  private var terminalWidth: Int? {
    var columns: Int32 = 0
    var rows: Int32 = 0
    return isTerminal && clibc_window_size(1, &columns, &rows) ? Int(columns) : nil
  }

  /// Writes a row; one with a key is not cut, since what cuts the key off cuts the row,
  /// and looks for words in all of it.
  func write(_ line: Line, width: Int?, key: String = "") throws(WriteFailure) {
    try erase()
    try writer.write(key)
    try writer.write(line.render(width: key.isEmpty ? width : nil, depth: depth))
    try writer.newline()
  }

  /// Writes a table.
  func write(_ table: CountTable) throws(WriteFailure) {
    for line in table.lines(width: width, depth: depth) { try write(text: line) }
  }

  /// Writes a line that is as it is to be.
  func write(text: String) throws(WriteFailure) {
    try erase()
    try writer.write(text)
    try writer.newline()
  }

  /// Takes a new line of stats; drawn by the next `flush`.
  func setBar(_ line: Line) throws(WriteFailure) {
    guard line != bar else { return }
    bar = line
    try erase()
  }

  /// Draws the line of stats and writes everything that waits.
  func flush() throws(WriteFailure) {
    if let bar, !bar.spans.isEmpty {
      if drawsInPlace {
        if !isDrawn {
          // The last column stays free: some terminals wrap when it is written.
          let room = terminalWidth.map { $0 - 1 }
          try writer.write(bar.render(width: room, depth: depth))
          isDrawn = true
          wasDrawn = true
        }
      } else if bar != printed {
        printed = bar
        try writer.write(bar.render(width: width, depth: depth))
        try writer.newline()
      }
    }
    try writer.flush()
  }

  /// Draws the line of stats anew, for a terminal whose size changed.
  func redraw() throws(WriteFailure) {
    try erase()
    try flush()
  }

  /// Writes the rows so far, so that a message can stand below them.
  func settle() throws(WriteFailure) {
    try erase()
    try writer.flush()
  }

  /// Leaves the terminal as a command without a line of stats would; a line
  /// that nobody could see, since the input never paused, is written as the last row.
  func finish() throws(WriteFailure) {
    try erase()
    if let last = bar, drawsInPlace {
      bar = nil
      if !wasDrawn { try write(last, width: width) }
    }
    try flush()
  }

  private func erase() throws(WriteFailure) {
    guard isDrawn else { return }
    isDrawn = false
    try writer.write("\r\u{1b}[K")
  }
}

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
