import CLibc
import Core
import Screen

struct NoteOutput {
  /// The most cells of a line; nil where nobody reads along.
  let width: Int?
  private let depth: ColourDepth
  private let isQuiet: Bool

  init(_ options: MemOptions) {
    let isTerminal = isatty(2) == 1
    isQuiet = options.quiet
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    width = options.look.width(on: 2, isTerminal: isTerminal)
  }

  /// Writes the lines; a standard error that cannot be written is nobody's loss.
  func show(_ lines: [Line]) {
    if isQuiet { return }
    let writer = RecordWriter(descriptor: 2)
    try? writer.write(lines.map { $0.render(width: width, depth: depth) + "\n" }.joined())
    try? writer.flush()
  }
}
