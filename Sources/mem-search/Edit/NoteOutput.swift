import CLibc
import Core
import Screen

/// Lines beside the records: for the person, on standard error.
struct NoteOutput {
  /// The most cells of a line; nil where nobody reads along.
  let width: Int?
  private let depth: ColourDepth
  private let isQuiet: Bool

  /// - Parameter options: width, colour and quiet.
  init(_ options: MemOptions) {
    let isTerminal = isatty(2) == 1
    isQuiet = options.quiet
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    var columns: Int32 = 0
    var rows: Int32 = 0
    let own = isTerminal && clibc_window_size(2, &columns, &rows) ? Int(columns) : nil
    width = options.look.width.map { $0 == 0 ? nil : $0 } ?? own
  }

  /// Writes the lines; a standard error that cannot be written is nobody's loss.
  func show(_ lines: [Line]) {
    if isQuiet { return }
    let writer = RecordWriter(descriptor: 2)
    try? writer.write(lines.map { $0.render(width: width, depth: depth) + "\n" }.joined())
    try? writer.flush()
  }
}
