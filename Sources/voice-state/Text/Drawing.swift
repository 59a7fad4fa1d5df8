import CLibc
import Core
import Screen

/// The signs that lines, bars and marks are drawn with, and the ASCII that stands
/// for each where there is no colour. Both take one cell, so nothing moves. The dot
/// between facts stays, as in the forms of one line.
enum Drawing {
  private static let signs = "─━│▏▎▍▌▋▊▉█▁▂▃▄▅▆▇●◆○◌✓✗×…↵→▸←◂♪↑↓–—“”‘’"
  private static let letters = "-=||||#####___--^^**oo+xx~/>><<#^v--\"\"''"
  private static let plain = Dictionary(
    uniqueKeysWithValues: zip(signs.unicodeScalars, letters.unicodeScalars))

  static func line(_ line: Line, depth: ColourDepth) -> Line {
    depth == .none ? ascii(line) : line
  }

  /// Letters of other scripts stay: they are what somebody said.
  static func ascii(_ line: Line) -> Line {
    Line(line.spans.map { Line.Span(ascii($0.text), $0.style) })
  }

  static func ascii(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { plain[$0] ?? $0 }))
  }
}

struct Canvas {
  let depth: ColourDepth
  private let fixed: Int?

  init(_ look: LookOptions) {
    depth = ColourDepth.detect(
      look.colour, isTerminal: isatty(1) == 1, environment: Process.environment)
    fixed = look.width
  }

  /// As asked for, else the terminal's, else COLUMNS, which watch(1) sets, else 80.
  var width: Int {
    if let fixed { return fixed }
    if let size = WindowSize.told(by: 1) { return size.columns }
    if let text = Process.environment("COLUMNS"), let number = Int(text),
      (20...1000).contains(number)
    {
      return number
    }
    return 80
  }

  func text(_ lines: [Line], width: Int) -> String {
    lines.map { line in
      Drawing.line(line.cut(to: width), depth: depth).render(width: nil, depth: depth) + "\n"
    }.joined()
  }
}
