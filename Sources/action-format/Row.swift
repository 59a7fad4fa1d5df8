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
  var zone: @Sendable (Int64) -> tm? = LocalZone.calendar

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

extension Layout {
  func row(_ action: Action) -> Line {
    var line = Line()
    line.add(time(action.createdAt), .dim)
    line.add("  ")
    let style = kindStyle(action)
    let mark =
      action.isError
      ? Palette.errorMark : action.isWarning ? Palette.warningMark : Palette.mark(of: action.domain)
    line.add(mark, style)
    line.add(" ")
    let event = tellsVoice && action.kind == "voice_runtime" ? VoiceEvent(action)?.label : nil
    if let event { line.add(event, style) }
    if event == nil || !isNarrow {
      let kind = Plain.line(action.kind, limit: 200)
      if event != nil { line.add(" ") }
      line.add(kind.isEmpty ? "(no kind)" : kind, kind.isEmpty || event != nil ? .dim : style)
    }
    line.fill(to: timeCells + 4 + kindCells)
    let cost = action.cost.map { $0 == 0 ? "" : Amount.money($0) } ?? ""
    let price = Line(cost, costStyle(action.cost ?? 0))
    var phrase = phrase
    phrase.detail(action)
    if isNarrow {
      line.add("  ")
      line.add(price.joined(phrase.line))
    } else {
      line.add(Fit.spaces(costCells - cost.utf8.count))
      line.add(price)
      line.add("  ")
      line.add(phrase.line)
    }
    return line.trimmed
  }

  /// A phrase that fits.
  private var phrase: Phrase { Phrase(limit: limit, isWide: isWide, names: names) }

  /// The column of times: a time that cannot be read is `?`, none is `-`.
  private func time(_ text: String?) -> String {
    var shown = text?.isEmpty == false ? "?" : "-"
    if let time = text.flatMap({ Timestamp(rfc3339: $0) }) {
      shown =
        isAbsolute
        ? TimeText.absolute(time, zone: zone) : TimeText.relative(time, now: now)
      if isNarrow, !isAbsolute, shown.hasSuffix(" ago") { shown.removeLast(4) }
    }
    return Fit.padStart(shown, to: timeCells)
  }

  /// Failures and warnings first, then tools, then the domain.
  private func kindStyle(_ action: Action) -> Style {
    if action.isError { return Style(Palette.error, bold: true) }
    if action.isWarning { return Style(Palette.warning, bold: true) }
    if action.kind == "llm_tool_call" || action.kind == "search_call" { return Style.tool }
    return Style(Palette.colour(of: action.domain))
  }

  /// What costs a cent or more stands out, ten cents or more warns.
  private func costStyle(_ cost: Double) -> Style {
    if cost >= 0.1 { return Style(Palette.warning, bold: true) }
    return cost >= 0.01 ? .bold : .plain
  }

  /// The line for a lifecycle record, nil for those that a reader of the feed
  /// need not know (`open`, `comment` and types of other commands).
  func notice(_ type: String, _ record: JSONValue) -> Line? {
    var phrase = phrase
    var style = Style.warning
    switch type {
    case "lost":
      phrase.add(record["reason"]?.text)
      if let wait = record["retry_in"]?.number {
        phrase.add("next try in \(Amount.duration(wait * 1000))")
      }
    case "gap":
      let after = record["after"]?.text.map(moment) ?? "the start"
      let before = record["before"]?.text.map(moment) ?? "now"
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
    line.add(time(record["time"]?.text), .dim)
    line.add("  ")
    line.add((style == .dim ? "─ " : "! ") + "stream \(type)", style)
    line.fill(to: timeCells + 4 + kindCells + costCells)
    if !phrase.line.spans.isEmpty { line.add("  ") }
    for span in phrase.line.spans { line.add(span.text, style) }
    return line.trimmed
  }

  private func moment(_ text: String) -> String {
    Timestamp(rfc3339: text).map { TimeText.absolute($0, zone: zone) } ?? text
  }
}

extension Line {
  mutating func fill(to cells: Int) { add(Fit.spaces(cells - self.cells)) }

  /// Without blanks at the end.
  var trimmed: Line {
    var line = self
    while let last = line.spans.last, last.text.allSatisfy({ $0 == " " }) {
      line.spans.removeLast()
    }
    return line
  }

  /// With another one behind a dot.
  func joined(_ other: Line) -> Line {
    var line = self
    if !spans.isEmpty && !other.spans.isEmpty { line.add(" · ", .dim) }
    line.add(other)
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

/// What stands in front of a row for a program to cut off: `--key`.
enum RowKey: String, CaseIterable {
  case id, kind, line, profile, thread

  /// `id,profile`: one at least, in any order.
  static let reading = Reading<[RowKey]>(
    { argument throws(UsageError) in
      let names = allCases.map(\.rawValue)
      var keys: [RowKey] = []
      for word in argument.words where !word.isEmpty {
        guard let key = RowKey(rawValue: word) else { throw argument.fault(noneOf: names) }
        keys.append(key)
      }
      if keys.isEmpty { throw argument.fault(noneOf: names) }
      return keys
    }, completion: .words(allCases.map(\.rawValue)))

  /// The columns, each with its tab; what is in them is one line and has no tab.
  static func columns(_ keys: [RowKey], of action: Action?, profile: String?, line: Int) -> String {
    var columns = ""
    for key in keys {
      let text: String? =
        switch key {
        case .id: action?.id
        case .kind: action?.kind
        case .line: "\(line)"
        case .profile: profile
        case .thread: action?.metadata?["sessionId"]?.text ?? action?.channel
        }
      columns += Visible.line(text ?? "") + "\t"
    }
    return columns
  }
}
