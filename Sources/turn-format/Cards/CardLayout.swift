import CLibc
import Core
import Screen

struct CardLayout {
  /// The cells of a line, nil without a limit.
  var width: Int?
  var tail = 5
  var isExpanded = false
  /// The clock, for what goes on; nil where the last record tells the time.
  var now: Timestamp?
  /// So many lines of a card can be seen: no more of a long text is folded. Nil for all.
  var rows: Int?
  var zone: @Sendable (Int64) -> tm? = TimeText.local

  /// The least cells that a text is folded to.
  static let least = 12

  var isNarrow: Bool { (width ?? .max) < 60 }
  var limit: Int { width.map { max($0, Self.least) * 4 } ?? 2000 }

  func cut(_ line: Line) -> Line { width.map { line.cut(to: $0) } ?? line }

  func line(_ text: String, _ style: Style) -> Line {
    cut(Line(Plain.line(text, limit: (width ?? 4000) * 4), style))
  }

  /// The cells behind an indent; nil for no limit.
  func room(behind indent: Int) -> Int? { width.map { max($0 - indent, Self.least) } }

  func clock(_ time: Timestamp) -> String {
    let whole = TimeText.absolute(time, zone: zone)
    return isNarrow ? String(whole.drop { $0 != " " }.drop { $0 == " " }) : whole
  }

  /// A text folded behind an indent.
  func fold(_ text: String, indent: Int, rows: Int? = nil, _ style: Style = .plain) -> [Line] {
    let blank = Fit.spaces(indent)
    let cells = room(behind: indent)
    let lines: [String]
    if let rows {
      lines = Paragraph.wrap(text, to: cells ?? limit, rows: rows)
    } else if let most = self.rows, let cells {
      lines = Paragraph.wrap(Self.end(of: text, cells: cells, rows: most), to: cells)
    } else {
      lines = Paragraph.wrap(text, to: cells)
    }
    return lines.map { text in
      text.isEmpty ? Line() : Line([Line.Span(blank), Line.Span(text, style)])
    }
  }

  /// Begins at a line's beginning where that is near.
  private static func end(of text: String, cells: Int, rows: Int) -> String {
    let limit = cells * (rows + 1) * 4
    let utf8 = text.utf8
    guard utf8.count > 2 * limit else { return text }
    var start = utf8.index(utf8.endIndex, offsetBy: -2 * limit)
    let middle = utf8.index(utf8.endIndex, offsetBy: -limit)
    if let line = utf8[start..<middle].firstIndex(of: 10) { start = utf8.index(after: line) }
    while start < utf8.endIndex, utf8[start] & 0xc0 == 0x80 { start = utf8.index(after: start) }
    return String(text[start...])
  }
}

extension Timestamp {
  /// Milliseconds since an earlier instant; nil for none, and where the clock went back.
  func milliseconds(since start: Timestamp?) -> Double? {
    guard let start, self >= start else { return nil }
    return (Double(seconds) - Double(start.seconds)) * 1000
      + Double(nanoseconds - start.nanoseconds) / 1_000_000
  }
}
