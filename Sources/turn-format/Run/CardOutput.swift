import CLibc
import Core
import Screen

/// Where the lines go: standard output. On a terminal what goes on stands below them and
/// is drawn in place.
final class CardOutput {
  private let writer: RecordWriter
  private let isTerminal: Bool
  private let fixedWidth: Int?
  /// Whether what goes on is drawn in place: a terminal that can place the cursor.
  let drawsInPlace: Bool
  private let depth: ColourDepth
  private var region = LiveRegion()
  /// Lines that stay, and are written with the next change of the others.
  private var settled: [Line] = []
  private var size = WindowSize(of: 1)

  /// So many lines are written without a pause in what is read.
  private static let mostSettled = 500

  init(_ options: TurnFormatOptions, interrupted: @escaping () -> Bool) {
    writer = RecordWriter(interrupted: interrupted)
    isTerminal = isatty(1) == 1
    fixedWidth = options.look.width
    drawsInPlace = options.form != .dot && Terminal.canDraw(1)
    depth =
      options.form == .dot
      ? .none
      : ColourDepth.detect(
        options.look.colour, isTerminal: isTerminal, environment: Process.environment)
  }

  /// The cells of a line: as asked for, else the terminal's but for the last column, else
  /// no limit.
  var width: Int? {
    if let fixedWidth { return fixedWidth == 0 ? nil : fixedWidth }
    return isTerminal ? max(1, size.columns - 1) : nil
  }

  /// The rows for what is drawn in place.
  var rows: Int { max(1, size.rows - 1) }

  /// The window may have another size.
  func measure() { size = WindowSize(of: 1) }

  /// Writes lines that stay.
  func write(_ lines: [Line]) throws(WriteFailure) {
    if drawsInPlace {
      settled += lines
      if settled.count > Self.mostSettled { try draw([]) }
      return
    }
    for line in lines {
      try writer.write(line.render(width: nil, depth: depth))
      try writer.newline()
    }
  }

  /// Writes lines that stay, which have neither colour nor width.
  func write(plain lines: [String]) throws(WriteFailure) {
    for line in lines {
      try writer.write(line)
      try writer.newline()
    }
  }

  /// Draws what goes on, below all lines that stay.
  func draw(_ live: [Line]) throws(WriteFailure) {
    try writer.write(region.update(settled: settled, live: live, size: size, depth: depth))
    settled = []
    try writer.flush()
  }

  /// Writes all that waits, and leaves the cursor at the beginning of a line.
  func settle() throws(WriteFailure) {
    if drawsInPlace { try draw([]) } else { try writer.flush() }
  }

  /// Leaves what is drawn where it is, before the process stops.
  func leave() throws(WriteFailure) {
    if !region.isEmpty { try writer.write("\n") }
    region.forget()
    try writer.flush()
  }

  /// Something else has written to the terminal.
  func forget() { region.forget() }
}
