import CLibc
import Core
import Records
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
  let isTerminal: Bool
  private let look: LookOptions
  private var bar: Line?
  private var isDrawn = false
  private var wasDrawn = false
  private var printed: Line?

  init(_ options: FormatOptions, interrupted: @escaping () -> Bool) {
    writer = RecordWriter(interrupted: interrupted)
    isTerminal = isatty(1) == 1
    depth = ColourDepth.detect(
      options.look.colour, isTerminal: isTerminal, environment: Process.environment)
    look = options.look
  }

  let drawsInPlace = Terminal.canDraw(1)

  /// The cells of a row: as asked for, else the terminal's, else no limit.
  var width: Int? { look.width(on: 1, isTerminal: isTerminal) }

  /// Writes a row; one with a key is not cut, since what cuts the key off cuts the row,
  /// and looks for words in all of it.
  func write(_ line: Line, width: Int?, key: String = "") throws(WriteFailure) {
    try erase()
    try writer.write(key)
    try writer.write(line.render(width: key.isEmpty ? width : nil, depth: depth))
    try writer.newline()
  }

  func lines(of table: CountTable) -> [String] { table.lines(width: width, depth: depth) }

  func write(text: String) throws(WriteFailure) {
    try erase()
    try writer.write(text)
    try writer.newline()
  }

  func setBar(_ line: Line) throws(WriteFailure) {
    guard line != bar else { return }
    bar = line
    try erase()
  }

  func flush() throws(WriteFailure) {
    if let bar, !bar.spans.isEmpty {
      if drawsInPlace {
        if !isDrawn {
          // The last column stays free: some terminals wrap when it is written.
          let room = WindowSize.told(by: 1).map { $0.columns - 1 }
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

struct ShownCounts {
  /// Kinds that are told apart; of those that come later only the sum is known.
  private static let most = 1000
  private(set) var total = 0
  private(set) var kinds: [String: Int] = [:]

  mutating func add(_ kind: String) {
    total += 1
    if kinds[kind] != nil || kinds.count < Self.most { kinds[kind, default: 0] += 1 }
  }

  /// How often each kind is among the rows: failures first, then the most frequent; ties by name.
  var line: Line {
    guard total > 0 else { return Line() }
    let ordered = kinds.sorted { a, b in
      let (x, y) = (ActionKind.isError(kind: a.key), ActionKind.isError(kind: b.key))
      if x != y { return x }
      return a.value != b.value ? a.value > b.value : a.key < b.key
    }
    return ordered.reduce(Line([Line.Span("\(total)"), Line.Span(" shown", .dim)])) { line, kind in
      let isError = ActionKind.isError(kind: kind.key)
      let name = kind.key.isEmpty ? "(no kind)" : Plain.line(kind.key, limit: 100)
      return line.joined(
        Line([
          Line.Span(name + " ", isError ? Style.error : .dim),
          Line.Span("\(kind.value)", isError ? Style(Palette.error, bold: true) : .plain),
        ]))
    }
  }
}

extension ActionStats {
  /// What the server tells.
  func line(now: Timestamp, age: Int64 = 0) -> Line {
    var parts: [[Line.Span]] = []
    func part(_ spans: Line.Span...) { parts.append(spans.filter { !$0.text.isEmpty }) }
    if isReady == false { part(Line.Span("not connected", Style(Palette.error, bold: true))) }
    if age >= 15 { part(Line.Span("\(age)s old", Style.warning)) }
    if let today = cost(of: String(now.rfc3339.prefix(10))) {
      part(Line.Span("today ", .dim), Line.Span(money(today), .bold))
    }
    if let totalCost {
      let bars = Spark.line(dailyCosts.prefix(14).reversed().map(\.cost))
      part(
        Line.Span("total ", .dim), Line.Span(money(totalCost)),
        Line.Span(dailyCosts.count > 1 ? " " + bars : "", Style.tool))
    }
    if let sessions = voiceSessions, sessions > 0 {
      part(Line.Span("\(sessions) in voice", Style.positive))
    }
    if let pending = pendingReplies, pending > 0 {
      part(Line.Span("\(pending) waiting", Style.warning))
    }
    if let median = medianReply {
      part(Line.Span("reply ", .dim), Line.Span(Amount.duration(median)))
    }
    return parts.reduce(Line()) { $0.joined(Line($1)) }
  }

  private func money(_ dollars: Double) -> String { "$" + Amount.fixed(dollars, 2) }
}
