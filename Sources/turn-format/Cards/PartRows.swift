import Core
import Records
import Screen

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
    if count > 1 { row.facts.append(Line.Span("\(count) lines", .dim)) }
    return row.line(width: width)
  }

  private func attachments(of message: MessageRecord, _ indent: Int) -> [Line] {
    (message.attachments ?? []).prefix(20).map { attachment in
      var row = Row()
      row.head.add(Fit.spaces(indent) + "+", .dim)
      let name = attachment.name ?? attachment.url ?? "attachment"
      row.subject.add(Plain.line(name, limit: limit))
      if let type = attachment.mediaType {
        row.facts.append(Line.Span(Plain.line(type, limit: 80), .dim))
      }
      if let size = attachment.size { row.facts.append(Line.Span(Amount.bytes(size), .dim)) }
      return row.line(width: width)
    }
  }

  private func state(of message: MessageRecord, _ indent: Int) -> [Line] {
    if [.final, .partial].contains(message.state) { return [] }
    let word = message.state.rawValue
    let text = message.reason.map { "\(word): \($0)" } ?? word
    let style = message.state == .failed ? Style(Palette.error) : Style(Palette.warning)
    return fold(Plain.line(text, limit: 2000), indent: indent + 2, rows: 2, style)
  }

  func lines(_ record: ToolCallRecord, indent: Int) -> [Line] {
    let call = CallView(record)
    let most = min(40, room(behind: indent + 2) ?? 40)
    let row = Row(call, limit: limit, indent: indent, most: most, now: now)
    var lines = [row.line(width: width)]
    if let reason = record.reason, !reason.isEmpty {
      let style: Style = record.state == .failed ? Style(Palette.error) : .dim
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
    row.head.add(Row.name(approval.tool, most), Style(Palette.tool))
    if let summary = approval.summary { row.subject.add(Plain.line(summary, limit: limit)) }
    row.facts.append(Line.Span(mark.word, mark.style))
    if let risk = approval.risk {
      row.facts.append(Line.Span(Plain.line(risk, limit: 40), Style(Palette.warning)))
    }
    if let by = approval.by { row.facts.append(Line.Span("by \(Plain.line(by, limit: 40))", .dim)) }
    row.facts += place.map { Line.Span(Plain.line($0, limit: 80), .dim) }
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
