import CLibc
import Core
import Records
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
  var zone: @Sendable (Int64) -> tm? = LocalZone.calendar

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

extension CardLayout {
  /// A message: the answer whole, what others said shortened, thoughts in a line.
  func lines(_ message: MessageRecord, indent: Int, isAlone: Bool = false) -> [Line] {
    var named = message.text
    if let author = message.author ?? (isAlone ? message.role.rawValue : nil) {
      named = "\(Plain.line(author, limit: 80)): \(named)"
    }
    let body: [Line]
    switch message.role {
    case .thinking where !isExpanded: body = [collapsed(message, "thinking", indent)]
    case .tool where !isExpanded: body = [collapsed(message, "tool", indent)]
    case .thinking, .tool, .system: body = signed(message, message.text, indent, .dim)
    case .user:
      // What a user said is there to be known again.
      body = signed(message, named, indent, rows: isExpanded || isAlone ? nil : 3)
    case .assistant where isAlone: body = signed(message, named, indent)
    case .assistant: body = message.text.isEmpty ? [] : fold(message.text, indent: indent)
    }
    return body + attachments(of: message, indent) + state(of: message, indent)
  }

  private func signed(
    _ message: MessageRecord, _ text: String, _ indent: Int, rows: Int? = nil,
    _ style: Style = .plain
  ) -> [Line] {
    let lines = fold(text, indent: indent + 2, rows: rows, style)
    guard let first = lines.first else { return lines }
    let mark = Mark(message.role)
    var line = Line(Fit.spaces(indent))
    line.add(mark.sign, mark.style)
    line.add(" ")
    for span in first.spans.dropFirst() { line.add(span.text, span.style) }
    return [line] + lines.dropFirst()
  }

  private func collapsed(_ message: MessageRecord, _ word: String, _ indent: Int) -> Line {
    var row = Row()
    row.gap = 1
    row.head.add(Fit.spaces(indent) + Mark(message.role).sign + " \(word):", .dim)
    row.subject.add(Plain.line(message.text, limit: limit), .dim)
    let count = TextEnds.count(message.text)
    if count > 1 { row.add("\(count) lines") }
    return row.line(width: width)
  }

  private func attachments(of message: MessageRecord, _ indent: Int) -> [Line] {
    (message.attachments ?? []).prefix(20).map { attachment in
      var row = Row()
      row.head.add(Fit.spaces(indent) + "+", .dim)
      let name = attachment.name ?? attachment.url ?? "attachment"
      row.subject.add(Plain.line(name, limit: limit))
      row.add(attachment.mediaType.map { Plain.line($0, limit: 80) })
      row.add(attachment.size.map { Amount.bytes($0) })
      return row.line(width: width)
    }
  }

  private func state(of message: MessageRecord, _ indent: Int) -> [Line] {
    if [.final, .partial].contains(message.state) { return [] }
    let word = message.state.rawValue
    let text = message.reason.map { "\(word): \($0)" } ?? word
    let style = message.state == .failed ? Style.error : Style.warning
    return fold(Plain.line(text, limit: 2000), indent: indent + 2, rows: 2, style)
  }

  func lines(_ record: ToolCallRecord, indent: Int) -> [Line] {
    let call = CallView(record)
    let most = min(40, room(behind: indent + 2) ?? 40)
    let row = Row(call, limit: limit, indent: indent, most: most, now: now)
    var lines = [row.line(width: width)]
    if let reason = record.reason, !reason.isEmpty {
      let style: Style = record.state == .failed ? Style.error : .dim
      lines += fold(Plain.line(reason, limit: 2000), indent: indent + 4, rows: 3, style)
    }
    var inside = self
    inside.width = room(behind: indent + 4)
    return lines
      + call.renderer.details(call, inside).map { detail in
        var line = Line(Fit.spaces(indent + 4))
        line.add(detail)
        return line
      }
  }

  func lines(_ approval: ApprovalRecord, indent: Int, place: [String] = []) -> [Line] {
    let mark = Mark(approval.state)
    var row = Row()
    row.head.add(Fit.spaces(indent))
    row.head.add(mark.sign, mark.style)
    row.head.add(" approval ")
    let most = min(30, room(behind: indent + 11) ?? 30)
    row.head.add(Row.name(approval.tool, most), Style.tool)
    if let summary = approval.summary { row.subject.add(Plain.line(summary, limit: limit)) }
    row.add(mark.word, mark.style)
    row.add(approval.risk.map { Plain.line($0, limit: 40) }, Style.warning)
    row.add(approval.by.map { "by \(Plain.line($0, limit: 40))" })
    for name in place { row.add(Plain.line(name, limit: 80)) }
    var lines = [row.line(width: width)]
    if let reason = approval.reason, !reason.isEmpty {
      lines += fold(Plain.line(reason, limit: 2000), indent: indent + 4, rows: 2, .dim)
    }
    guard approval.state == .pending else { return lines }
    if let request = approval.requestText {
      lines += fold(request, indent: indent + 4, rows: 3, .dim)
    }
    if let expires = approval.expires {
      lines += fold("expires \(clock(expires))", indent: indent + 4, rows: 1, .dim)
    }
    // Never cut: what is left would be another command.
    var line = Line(Fit.spaces(indent + 4))
    line.add(approval.command, .bold)
    lines.append(line)
    return lines
  }
}

extension ApprovalRecord {
  /// What the backend says would be done, and not what the model says of it.
  fileprivate var requestText: String? {
    guard request.count <= 64 * 1024,
      let value = request.withUnsafeBytes({ try? JSONValue.parse($0) })
    else { return nil }
    let text = Plain.line(Brief.text(value, limit: CallView.longest), limit: CallView.longest)
    return text.isEmpty ? nil : text
  }

  fileprivate var command: String {
    let profile = origin.profile.map { " -p " + ShellText.word($0) } ?? ""
    let word = ShellText.word(id)
    return "agent-approve\(profile) "
      + (id.hasPrefix("-") ? "--approve=\(word)" : "--approve \(word)")
  }
}
