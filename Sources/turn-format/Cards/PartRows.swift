import Core
import Records
import Screen

/// A message: the answer whole, what others said shortened, thoughts in a line.
struct MessageRows {
  private let message: MessageRecord
  private let layout: CardLayout
  private let indent: Int
  private let isAlone: Bool

  /// What a user said is there to be known again.
  private static let mostOfOthers = 3

  init(_ message: MessageRecord, _ layout: CardLayout, indent: Int, isAlone: Bool = false) {
    (self.message, self.layout, self.indent, self.isAlone) = (message, layout, indent, isAlone)
  }

  var lines: [Line] {
    let body: [Line]
    switch message.role {
    case .thinking where !layout.isExpanded: body = [collapsed("thinking")]
    case .tool where !layout.isExpanded: body = [collapsed("tool")]
    case .thinking, .tool, .system:
      body = signed(layout.fold(message.text, indent: indent + 2, .dim))
    case .user:
      let rows = layout.isExpanded || isAlone ? nil : Self.mostOfOthers
      body = signed(layout.fold(named, indent: indent + 2, rows: rows))
    case .assistant:
      body =
        isAlone
        ? signed(layout.fold(named, indent: indent + 2))
        : message.text.isEmpty ? [] : layout.fold(message.text, indent: indent)
    }
    return body + attachments + state
  }

  private var named: String {
    guard let author = message.author ?? (isAlone ? message.role.rawValue : nil) else {
      return message.text
    }
    return "\(Plain.line(author, limit: 80)): \(message.text)"
  }

  private func signed(_ lines: [Line]) -> [Line] {
    let mark = Mark(message.role)
    var lines = lines
    guard let first = lines.first else { return lines }
    var line = Line(Fit.spaces(indent))
    line.add(mark.sign, mark.style)
    line.add(" ")
    for span in first.spans.dropFirst() { line.add(span.text, span.style) }
    lines[0] = line
    return lines
  }

  private func collapsed(_ word: String) -> Line {
    var row = Row()
    row.gap = 1
    row.head.add(Fit.spaces(indent) + Mark(message.role).sign + " \(word):", .dim)
    row.subject.add(Plain.line(message.text, limit: layout.limit), .dim)
    let count = TextEnds.count(message.text)
    if count > 1 { row.facts.append(Line.Span("\(count) lines", .dim)) }
    return row.line(width: layout.width)
  }

  private var attachments: [Line] {
    (message.attachments ?? []).prefix(20).map { attachment in
      var row = Row()
      row.head.add(Fit.spaces(indent) + "+", .dim)
      let name = attachment.name ?? attachment.url ?? "attachment"
      row.subject.add(Plain.line(name, limit: layout.limit))
      if let type = attachment.mediaType {
        row.facts.append(Line.Span(Plain.line(type, limit: 80), .dim))
      }
      if let size = attachment.size { row.facts.append(Line.Span(Amount.bytes(size), .dim)) }
      return row.line(width: layout.width)
    }
  }

  private var state: [Line] {
    let word: String
    switch message.state {
    case .final, .partial: return []
    case .sent, .queued, .unconfirmed, .aborted, .failed: word = message.state.rawValue
    }
    let text = message.reason.map { "\(word): \($0)" } ?? word
    let style = message.state == .failed ? Style(Palette.error) : Style(Palette.warning)
    return layout.fold(Plain.line(text, limit: 2000), indent: indent + 2, rows: 2, style)
  }
}

struct CallRows {
  private let call: CallView
  private let layout: CardLayout
  private let indent: Int

  init(_ call: ToolCallRecord, _ layout: CardLayout, indent: Int) {
    self.call = CallView(call)
    (self.layout, self.indent) = (layout, indent)
  }

  var lines: [Line] {
    let record = call.record
    let renderer = CallRenderers.of(record.tool)
    let mark = Mark(record.state)
    var row = Row()
    row.head.add(Fit.spaces(indent))
    row.head.add(mark.sign, mark.style)
    row.head.add(" ")
    let room = min(40, layout.room(behind: indent + 2) ?? 40)
    row.head.add(Fit.truncate(Plain.line(record.tool, limit: 200), to: room), Style(Palette.tool))
    if let subject = renderer.subject(of: call) {
      row.subject.add(Plain.line(subject, limit: layout.limit))
    }
    if record.state != .succeeded { row.facts.append(Line.Span(mark.word, mark.style)) }
    row.facts += renderer.facts(of: call)
    if let took { row.facts.append(Line.Span(Amount.duration(took), .dim)) }
    var lines = [row.line(width: layout.width)]
    if let reason = record.reason, !reason.isEmpty {
      let style: Style = record.state == .failed ? Style(Palette.error) : .dim
      lines += layout.fold(
        Plain.line(reason, limit: 2000), indent: indent + 4, rows: 3, style)
    }
    let tail = layout.isExpanded ? Int.max : layout.tail
    let inside = DetailRoom(cells: layout.room(behind: indent + 4), tail: tail)
    lines += renderer.details(of: call, inside).map { detail in
      var line = Line(Fit.spaces(indent + 4))
      line.add(detail)
      return line
    }
    return lines
  }

  /// Milliseconds.
  private var took: Double? {
    let record = call.record
    if let known = record.milliseconds { return Double(known) }
    if record.state.isEnd { return record.ended?.milliseconds(since: record.started) }
    return record.state == .running ? layout.now?.milliseconds(since: record.started) : nil
  }
}

struct ApprovalRows {
  private let approval: ApprovalRecord
  private let layout: CardLayout
  private let indent: Int
  private let place: [String]

  init(_ approval: ApprovalRecord, _ layout: CardLayout, indent: Int, place: [String] = []) {
    (self.place, self.approval, self.layout, self.indent) = (place, approval, layout, indent)
  }

  var lines: [Line] {
    let mark = Mark(approval.state)
    var row = Row()
    row.head.add(Fit.spaces(indent))
    row.head.add(mark.sign, mark.style)
    row.head.add(" approval ")
    let room = min(30, layout.room(behind: indent + 11) ?? 30)
    row.head.add(Fit.truncate(Plain.line(approval.tool, limit: 200), to: room), Style(Palette.tool))
    if let summary = approval.summary {
      row.subject.add(Plain.line(summary, limit: layout.limit))
    }
    row.facts.append(Line.Span(mark.word, mark.style))
    if let risk = approval.risk {
      row.facts.append(Line.Span(Plain.line(risk, limit: 40), Style(Palette.warning)))
    }
    if let by = approval.by { row.facts.append(Line.Span("by \(Plain.line(by, limit: 40))", .dim)) }
    row.facts += place.map { Line.Span(Plain.line($0, limit: 80), .dim) }
    var lines = [row.line(width: layout.width)]
    if let reason = approval.reason, !reason.isEmpty {
      lines += layout.fold(Plain.line(reason, limit: 2000), indent: indent + 4, rows: 2, .dim)
    }
    guard approval.state == .pending else { return lines }
    if let request { lines += layout.fold(request, indent: indent + 4, rows: 3, .dim) }
    if let expires = approval.expires {
      lines += layout.fold("expires \(layout.clock(expires))", indent: indent + 4, rows: 1, .dim)
    }
    // Never cut: what is left would be another command.
    var line = Line(Fit.spaces(indent + 4))
    line.add(command, .bold)
    lines.append(line)
    return lines
  }

  /// What the backend says would be done, and not what the model says of it.
  private var request: String? {
    guard approval.request.count <= 64 * 1024,
      let value = approval.request.withUnsafeBytes({ try? JSONValue.parse($0) })
    else { return nil }
    let text = Plain.line(Brief.text(value, limit: CallView.longest), limit: CallView.longest)
    return text.isEmpty ? nil : text
  }

  private var command: String {
    let profile = approval.origin.profile.map { " -p " + ShellText.word($0) } ?? ""
    let id = ShellText.word(approval.id)
    return "agent-approve\(profile) "
      + (approval.id.hasPrefix("-") ? "--approve=\(id)" : "--approve \(id)")
  }
}
