import CLibc
import Core
import Records
import Screen

struct Layout {
  /// The cells of a row, nil without a limit.
  var width: Int?
  var isAbsolute = false
  /// Whether `voice_runtime` is told by what it is about.
  var tellsVoice = false
  var now = Timestamp(seconds: 0)
  var zone: @Sendable (Int64) -> tm? = TimeText.local

  var names = Names()

  var isWide: Bool { (width ?? .max) >= 110 }
  /// Whether columns give way to the words: ages are `42s`, most kinds just fit, and a
  /// cost stands before the words instead of in a column that is empty most of the time.
  var isNarrow: Bool { (width ?? .max) < 90 }
  /// The cells of the column of kinds; a longer kind takes what it needs.
  var kindCells: Int { isNarrow ? 14 : 26 }
  /// The cells of the column of times.
  var timeCells: Int { isAbsolute ? 19 : isNarrow ? 3 : 7 }
  /// The cells of the column of costs, with the blank before it.
  var costCells: Int { isNarrow ? 0 : 9 }
  var limit: Int { width.map { max($0, 16) * 8 } ?? .max }
}

enum Row {
  static func line(_ action: Action, _ layout: Layout) -> Line {
    var line = Line()
    line.add(time(action.createdAt, layout), .dim)
    line.add("  ")
    let style = kindStyle(action)
    let mark =
      action.isError
      ? Palette.errorMark : action.isWarning ? Palette.warningMark : Palette.mark(of: action.domain)
    line.add(mark, style)
    line.add(" ")
    let event =
      layout.tellsVoice && action.kind == "voice_runtime" ? VoiceEvent(action)?.label : nil
    if let event { line.add(event, style) }
    if event == nil || !layout.isNarrow {
      let kind = Plain.line(action.kind, limit: 200)
      if event != nil { line.add(" ") }
      line.add(
        kind.isEmpty ? "(no kind)" : kind, kind.isEmpty || event != nil ? .dim : style)
    }
    fill(&line, to: layout.timeCells + 4 + layout.kindCells)
    let cost = action.cost.map { $0 == 0 ? "" : Amount.money($0) } ?? ""
    let price = Line(cost, costStyle(action.cost ?? 0))
    let detail = Detail.line(
      action, limit: layout.limit, isWide: layout.isWide, names: layout.names)
    if layout.isNarrow {
      line.add("  ")
      line.add(StatsLine.joined(price, detail))
    } else {
      line.add(Fit.spaces(layout.costCells - cost.utf8.count))
      line.add(price)
      line.add("  ")
      line.add(detail)
    }
    return trimmed(line)
  }

  /// The column of times: a time that cannot be read is `?`, none is `-`.
  static func time(_ text: String?, _ layout: Layout) -> String {
    let shown: String
    if let text, !text.isEmpty {
      if let time = Timestamp(rfc3339: text) {
        shown =
          layout.isAbsolute
          ? TimeText.absolute(time, zone: layout.zone) : age(of: time, layout)
      } else {
        shown = "?"
      }
    } else {
      shown = "-"
    }
    return Fit.padStart(shown, to: layout.timeCells)
  }

  private static func age(of time: Timestamp, _ layout: Layout) -> String {
    let age = TimeText.relative(time, now: layout.now)
    return layout.isNarrow && age.hasSuffix(" ago") ? String(age.dropLast(4)) : age
  }

  /// Failures and warnings first, then tools, then the domain.
  static func kindStyle(_ action: Action) -> Style {
    if action.isError { return Style(Palette.error, bold: true) }
    if action.isWarning { return Style(Palette.warning, bold: true) }
    if action.kind == "llm_tool_call" || action.kind == "search_call" { return Style(Palette.tool) }
    return Style(Palette.colour(of: action.domain))
  }

  /// What costs a cent or more stands out, ten cents or more warns.
  private static func costStyle(_ cost: Double) -> Style {
    if cost >= 0.1 { return Style(Palette.warning, bold: true) }
    return cost >= 0.01 ? .bold : .plain
  }

  static func fill(_ line: inout Line, to cells: Int) {
    line.add(Fit.spaces(cells - line.cells))
  }

  static func trimmed(_ line: Line) -> Line {
    var line = line
    while let last = line.spans.last, last.text.allSatisfy({ $0 == " " }) {
      line.spans.removeLast()
    }
    return line
  }
}

/// Whose an action is, in front of its row, where records say so: as wide as the
/// longest name so far, and each name always of one colour.
struct ProfileColumn {
  /// The most cells that a name takes.
  private static let mostCells = 16
  private var cells = 0

  mutating func add(_ profile: String?, to line: Line) -> Line {
    guard let profile, !profile.isEmpty else { return line }
    let name = Fit.truncate(Plain.line(profile, limit: 200), to: Self.mostCells)
    cells = max(cells, CellWidth.of(name))
    var named = Line()
    named.add(name, Style(Self.colour(of: profile)))
    named.add(Fit.spaces(cells - CellWidth.of(name) + 2))
    named.add(line)
    return named
  }

  /// A colour that depends on the name alone (FNV-1a).
  static func colour(of name: String) -> Colour {
    var hash: UInt32 = 2_166_136_261
    for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Palette.names[Int(hash >> 8) % Palette.names.count]
  }
}

enum Notice {
  /// The line for a lifecycle record, nil for those that a reader of the feed
  /// need not know (`open`, `comment` and types of other commands).
  static func line(type: String, _ record: JSONValue, _ layout: Layout) -> Line? {
    var phrase = Phrase(limit: layout.limit, isWide: layout.isWide)
    var style = Style(Palette.warning)
    switch type {
    case "lost":
      phrase.add(record["reason"]?.text)
      if let wait = record["retry_in"]?.number {
        phrase.add("next try in \(Amount.duration(wait * 1000))")
      }
    case "gap":
      let after = record["after"]?.text.map { moment($0, layout) } ?? "the start"
      let before = record["before"]?.text.map { moment($0, layout) } ?? "now"
      phrase.add("actions between \(after) and \(before) may be missing")
    case "resumed":
      style = .dim
      if let down = record["down"]?.number { phrase.add("after \(Amount.duration(down * 1000))") }
    case "end":
      style = .dim
      phrase.add(record["reason"]?.text)
    default: return nil
    }
    var line = Line()
    line.add(Row.time(record["time"]?.text, layout), .dim)
    line.add("  ")
    line.add(style == .dim ? "─ " : "! ", style)
    line.add("stream \(type)", style)
    Row.fill(&line, to: layout.timeCells + 4 + layout.kindCells + layout.costCells)
    if !phrase.line.spans.isEmpty { line.add("  ") }
    for span in phrase.line.spans { line.add(span.text, style) }
    return Row.trimmed(line)
  }

  private static func moment(_ text: String, _ layout: Layout) -> String {
    guard let time = Timestamp(rfc3339: text) else { return text }
    return TimeText.absolute(time, zone: layout.zone)
  }
}
