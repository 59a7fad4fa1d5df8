import CLibc
import Core
import Screen

/// Standard output for people: how wide, how colourful.
struct Canvas {
  /// The width when nobody says.
  static let usualWidth = 80

  let depth: ColourDepth
  private let fixed: Int?

  /// - Parameter options: `--width` and `--color`.
  init(_ options: StateOptions) {
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isatty(1) == 1, environment: Process.environment)
    fixed = options.look.width
  }

  /// The columns: as asked for, else the terminal's, else COLUMNS, which
  /// watch(1) sets, else 80.
  var width: Int {
    if let fixed { return fixed }
    var columns: Int32 = 0
    var rows: Int32 = 0
    if isatty(1) == 1, clibc_window_size(1, &columns, &rows) { return Int(columns) }
    if let text = Process.environment("COLUMNS"), let number = Int(text),
      (20...1000).contains(number)
    {
      return number
    }
    return Self.usualWidth
  }

  /// The lines as text, each with its line end.
  func text(_ lines: [Line], width: Int) -> String {
    lines.map { line in
      Drawing.line(line.cut(to: width), depth: depth).render(width: nil, depth: depth) + "\n"
    }.joined()
  }
}
