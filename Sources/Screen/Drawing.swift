/// The signs that lines, bars and marks are drawn with, and the ASCII that
/// stands for each where colour, or the terminal's letters, are not to be had.
/// Sign and stand-in take one cell both, so nothing moves.
public enum Drawing {
  /// The line as an output of that depth shows it: with its signs where there is
  /// colour; in ASCII where there is none, which is what goes into files, mails
  /// and pipes.
  ///
  /// - Parameters:
  ///   - line: already cut to its width.
  ///   - depth: the colours of the output.
  public static func line(_ line: Line, depth: ColourDepth) -> Line {
    depth == .none ? ascii(line) : line
  }

  /// The line with its signs in ASCII. Letters of other scripts stay: they are
  /// what somebody said.
  public static func ascii(_ line: Line) -> Line {
    Line(line.spans.map { Line.Span(ascii($0.text), $0.style) })
  }

  /// The text with its signs in ASCII.
  public static func ascii(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var out = ""
    out.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars { out.unicodeScalars.append(plain(scalar) ?? scalar) }
    return out
  }

  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "─", "━": scalar == "━" ? "=" : "-"
    case "│", "▏", "▎", "▍": "|"
    case "▌", "▋", "▊", "▉", "█": "#"
    case "▁", "▂", "▃": "_"
    case "▄", "▅": "-"
    case "▆", "▇": "^"
    case "●", "◆": "*"
    case "○", "◌": "o"
    case "✓": "+"
    case "✗", "×": "x"
    case "·": "|"
    case "…": "~"
    case "↵": "/"
    case "→", "▸": ">"
    case "←", "◂": "<"
    case "♪": "#"
    case "↑": "^"
    case "↓": "v"
    case "–", "—": "-"
    case "“", "”": "\""
    case "‘", "’": "'"
    default: nil
    }
  }
}
