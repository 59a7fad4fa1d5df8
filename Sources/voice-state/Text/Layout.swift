import CLibc
import Core
import Screen

/// Puts lines together: of lines, texts and lists of lines. What is nil or empty adds nothing.
@resultBuilder
enum Lines {
  static func buildExpression(_ lines: [Line]) -> [Line] { lines }
  static func buildExpression(_ text: String?) -> [Line] { buildExpression(text.map { Line($0) }) }
  static func buildExpression(_ line: Line?) -> [Line] {
    guard let line, !line.spans.isEmpty else { return [] }
    return [line]
  }

  static func buildBlock(_ parts: [Line]...) -> [Line] { Array(parts.joined()) }
  static func buildArray(_ parts: [[Line]]) -> [Line] { Array(parts.joined()) }
  static func buildOptional(_ lines: [Line]?) -> [Line] { lines ?? [] }
  static func buildEither(first lines: [Line]) -> [Line] { lines }
  static func buildEither(second lines: [Line]) -> [Line] { lines }
}

extension Line {
  /// A line of pieces.
  init(@Lines _ pieces: () -> [Line]) { self.init(pieces().flatMap(\.spans)) }
}

extension String {
  var dim: Line { Line(self, .dim) }

  func styled(_ style: Style) -> Line { Line(self, style) }
}

/// A fact with a dim word before it: `model orion-4`; nil when there is none.
func fact(_ label: String, _ text: String?, _ style: Style = .plain) -> Line? {
  guard let text, !text.isEmpty else { return nil }
  return Line([Line.Span(label + " ", .dim), Line.Span(text, style)])
}

/// Facts side by side with dots between them, on as many lines as they need.
///
/// A fact is never broken: it goes to the next line, and only one that is longer
/// than a whole line is cut.
func flow(width: Int, indent: Int = 0, @Lines _ facts: () -> [Line]) -> [Line] {
  var lines: [Line] = []
  var line = Line()
  var used = 0
  for fact in facts() {
    let cells = fact.cells
    if used > 0, used + 3 + cells <= width {
      line.add(" · ", .dim)
      used += 3
    } else {
      if used > 0 { lines.append(line) }
      used = min(indent, width)
      line = Line(Fit.spaces(used))
    }
    line.add(fact)
    used += cells
  }
  if !line.spans.isEmpty { lines.append(line) }
  return lines.map { $0.cut(to: width) }
}

/// The cells of the labels' column.
private let labelCells = 8

/// Facts behind a label, over as many rows as they need; no facts are no row.
func row(_ label: String, _ width: Int, @Lines _ facts: () -> [Line]) -> [Line] {
  labelled(label, width, flow(width: max(width - labelCells - 1, 1), facts))
}

/// A text without controls behind a label, over several rows, the last one cut when there is
/// more; no text is no row.
func row(
  _ label: String, _ width: Int, text: String?, _ style: Style = .plain, most: Int
) -> [Line] {
  let rows = text.map { Paragraph.wrap($0, to: max(width - labelCells - 1, 4), rows: most) }
  return labelled(label, width, rows?.map { Line($0, style) }.filter { !$0.spans.isEmpty } ?? [])
}

private func labelled(_ label: String, _ width: Int, _ rows: [Line]) -> [Line] {
  rows.enumerated().map { index, row in
    Line {
      (Fit.padEnd(index == 0 ? label : "", to: labelCells) + " ").dim
      row
    }.cut(to: width)
  }
}

/// Rows of cells whose columns stand below each other.
enum Grid {
  struct Column: Sendable {
    /// Whether its cells end below each other, as numbers do.
    var isRight: Bool
    /// The last of several that give way gives what it can before the one before it.
    var gives: Bool

    static let left = Column(isRight: false, gives: false)
    static let right = Column(isRight: true, gives: false)
    static let giving = Column(isRight: false, gives: true)
  }

  /// The cells of a giving column that are never given.
  static let leastCells = 6

  /// Rows of cells, none wider than `width`. Cells that are missing are empty, those too many are
  /// left out; columns that are empty take no room.
  static func lines(_ columns: [Column], gap: Int = 2, width: Int, rows: () -> [[Line]]) -> [Line] {
    let rows = rows()
    var widths = columns.indices.map { column in
      rows.map { column < $0.count ? $0[column].cells : 0 }.max() ?? 0
    }
    var over = widths.reduce(0, +) + gap * max(0, widths.count { $0 > 0 } - 1) - width
    for column in columns.indices.reversed() where columns[column].gives && over > 0 {
      let given = min(over, max(0, widths[column] - leastCells))
      widths[column] -= given
      over -= given
    }
    let shown = columns.indices.filter { widths[$0] > 0 }
    return rows.map { row in
      Line(
        shown.map { $0 < row.count ? row[$0] : Line() }, widths: shown.map { widths[$0] }, gap: gap,
        isRight: { columns[shown[$0]].isRight }
      ).cut(to: width)
    }
  }
}

enum Rule {
  /// `── title ─────────── note ──`, exactly as wide as asked. The note gives
  /// way first, its last piece before the others, then the title is cut.
  static func line(_ title: Line, note: Line = Line(), width: Int, sign: String = "─") -> Line {
    var line = Line()
    guard width > 6 else { return title.fitted(to: max(width, 0)) }
    let name = title.cut(to: width - 5)
    line.add(sign + sign + " ", .dim)
    line.add(name)
    line.add(" ", .dim)
    var rest = width - 4 - name.cells
    var end = Line()
    // A cell of rule on either side of the note, and a blank.
    let room = rest - 4
    var note = note
    while note.spans.count > 1, note.cells > room { note.spans.removeLast() }
    if !note.spans.isEmpty, room >= min(note.cells, 12) {
      end.add(" ")
      end.add(note.cut(to: room))
      end.add(" ")
      rest -= end.cells + 1
    }
    line.add(String(repeating: sign, count: max(0, rest)), .dim)
    if !end.spans.isEmpty {
      line.add(end)
      line.add(sign, .dim)
    }
    return line
  }
}

enum Columns {
  /// The cells of each column when `count` of them share a width; the first
  /// ones get what cannot be shared out evenly.
  static func widths(_ count: Int, width: Int, gap: Int) -> [Int] {
    let room = max(0, width - gap * (count - 1))
    return (0..<count).map { room / count + ($0 < room % count ? 1 : 0) }
  }

  /// The blocks as one, each line cut and filled to its column's width; blanks
  /// at the end of a line are left out.
  static func join(_ blocks: [[Line]], widths: [Int], gap: Int) -> [Line] {
    let height = blocks.map(\.count).max() ?? 0
    return (0..<height).map { row in
      Line(blocks.map { row < $0.count ? $0[row] : Line() }, widths: widths, gap: gap)
    }
  }

  /// Where to break a row of blocks into columns, in their order, so that the
  /// tallest column is as low as can be; of equal ways the one with the tallest
  /// columns first. Returns how many blocks each column holds; no more columns than blocks.
  static func balance(_ heights: [Int], count: Int) -> [Int] {
    let count = min(count, heights.count)
    guard count > 1 else { return heights.isEmpty ? [] : [heights.count] }
    // The lowest height that holds everything, tried from the bottom.
    var limit = max(heights.max() ?? 0, (heights.reduce(0, +) + count - 1) / count)
    while true {
      if let columns = fill(heights, count: count, limit: limit) { return columns }
      limit += 1
    }
  }

  /// Fills columns one after the other up to a height, leaving one block at
  /// least for each column to come; nil when they do not hold everything.
  private static func fill(_ heights: [Int], count: Int, limit: Int) -> [Int]? {
    var columns: [Int] = []
    var next = 0
    for column in 0..<count {
      var used = 0
      var taken = 0
      let last = heights.count - (count - 1 - column)
      while next < last, taken == 0 || used + heights[next] <= limit {
        used += heights[next]
        taken += 1
        next += 1
      }
      if used > limit { return nil }
      columns.append(taken)
    }
    return next == heights.count ? columns : nil
  }
}

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
