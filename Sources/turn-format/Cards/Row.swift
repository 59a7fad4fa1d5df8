import Core
import Records
import Screen

struct Row {
  /// In front, and never cut for the others.
  var head = Line()
  var subject = Line()
  /// Behind it, each after a dot, the most important first.
  var facts: [Line.Span] = []
  var gap = 2

  /// The cells below which a subject says little: for more, the last facts are left out.
  private static let leastSubject = 16

  func line(width: Int?) -> Line {
    var facts = facts.filter { !$0.text.isEmpty }
    let gap = head.spans.isEmpty || subject.spans.isEmpty ? 0 : gap
    guard let width else { return line(facts, gap, subject) }
    let cells = subject.cells
    let wanted = head.cells + gap + min(cells, Self.leastSubject)
    var needed = wanted + facts.reduce(0) { $0 + $1.cells + 3 }
    while needed > width, facts.count > 1, let last = facts.popLast() { needed -= last.cells + 3 }
    let room = width - head.cells - gap - facts.reduce(0) { $0 + $1.cells + 3 }
    return line(facts, room > 0 ? gap : 0, subject.cut(to: room)).cut(to: width)
  }

  private func line(_ facts: [Line.Span], _ gap: Int, _ subject: Line) -> Line {
    var line = head
    line.add(Fit.spaces(gap))
    line.add(subject)
    for fact in facts {
      if !line.spans.isEmpty { line.add(" · ", .dim) }
      line.add(fact.text, fact.style)
    }
    return line
  }

  mutating func add(_ fact: String?, _ style: Style = .dim) {
    if let fact { facts.append(Line.Span(fact, style)) }
  }

  mutating func took(_ milliseconds: Double?) {
    add(milliseconds.map { Amount.duration($0) })
  }
}

// MARK: - The parts of a turn

extension Row {
  /// A part as it stands in a tree, or in a node of a graph.
  init(_ record: ConversationRecord, limit: Int) {
    switch record {
    case .thread: break
    case .message(let message):
      let mark = Mark(message.role)
      gap = 1
      head.add("\(mark.sign) ", mark.style)
      head.add("\(message.author.map { Plain.line($0, limit: 80) } ?? mark.word):", .dim)
      subject.add(Plain.line(message.text, limit: limit), message.role == .thinking ? .dim : .plain)
      if message.state != .final { add(message.state.rawValue, Style.warning) }
    case .turn(let turn):
      self = Row(turn, limit: limit)
    case .toolCall(let call):
      self = Row(CallView(call), limit: limit)
    case .approval(let approval):
      let mark = Mark(approval.state)
      head.add("\(mark.sign) ", mark.style)
      head.add("approval \(Self.name(approval.tool, 40))")
      if let summary = approval.summary { subject.add(Plain.line(summary, limit: limit)) }
      add(mark.word, mark.style)
    }
  }

  /// A turn within another.
  ///
  /// - Parameter now: the time where that is to count for one that goes on.
  init(
    _ turn: TurnRecord, limit: Int, indent: Int = 0, now: Timestamp? = nil,
    reason style: Style = .dim
  ) {
    let mark = Mark(turn.state)
    head.add(Fit.spaces(indent))
    head.add("\(mark.sign) ", mark.style)
    head.add(Self.name(turn.agent ?? "turn", 40), .bold)
    if let reason = turn.reason { subject.add(Plain.line(reason, limit: limit), style) }
    if turn.state != .completed { add(mark.word, mark.style) }
    facts += Totals(turn).facts
    took((turn.ended ?? now)?.milliseconds(since: turn.started))
  }

  init(_ call: CallView, limit: Int, indent: Int = 0, most: Int = 40, now: Timestamp? = nil) {
    let record = call.record
    let mark = Mark(record.state)
    head.add(Fit.spaces(indent))
    head.add("\(mark.sign) ", mark.style)
    head.add(Self.name(record.tool, most), Style.tool)
    if let text = call.renderer.subject(of: call) { subject.add(Plain.line(text, limit: limit)) }
    if record.state != .succeeded { add(mark.word, mark.style) }
    facts += call.renderer.facts(call)
    let end = record.state.isEnd ? record.ended : record.state == .running ? now : nil
    took(record.milliseconds.map { Double($0) } ?? end?.milliseconds(since: record.started))
  }

  static func name(_ text: String, _ cells: Int) -> String {
    Fit.truncate(Plain.line(text, limit: 200), to: cells)
  }
}

struct Mark {
  let sign: String
  let word: String
  let style: Style

  private init(_ sign: String, _ word: String, _ style: Style) {
    (self.sign, self.word, self.style) = (sign, word, style)
  }

  private static let good = Style.positive
  private static let bad = Style(Palette.error, bold: true)
  private static let waits = Style(Palette.warning, bold: true)
  private static let works = Style(Palette.tool, bold: true)

  /// Of a turn; nil for one of which nothing but its parts is known.
  init(_ state: TurnRecord.State?) {
    switch state {
    case .queued: self.init("○", "queued", .dim)
    case .running: self.init("●", "running", Self.works)
    case .paused: self.init("‖", "paused", Self.waits)
    case .completed: self.init("✓", "completed", Self.good)
    case .aborted: self.init("■", "aborted", Style.warning)
    case .failed: self.init("✗", "failed", Self.bad)
    case nil: self.init("·", "turn", .dim)
    }
  }

  init(_ state: ToolCallRecord.State) {
    switch state {
    case .planned: self.init("○", "planned", .dim)
    case .waitingApproval: self.init("?", "waits for approval", Self.waits)
    case .running: self.init("▸", "running", Self.works)
    case .succeeded: self.init("✓", "ok", Self.good)
    case .failed: self.init("✗", "failed", Self.bad)
    case .rejected: self.init("⊘", "rejected", Style.warning)
    }
  }

  init(_ state: ApprovalRecord.State) {
    switch state {
    case .pending: self.init("?", "pending", Self.waits)
    case .approved: self.init("✓", "approved", Self.good)
    case .rejected: self.init("⊘", "rejected", Style.warning)
    case .expired: self.init("⊘", "expired", Style.warning)
    case .cancelled: self.init("⊘", "cancelled", .dim)
    case .executed: self.init("✓", "executed", Self.good)
    }
  }

  init(_ role: MessageRecord.Role) {
    switch role {
    case .user: self.init("»", "user", .bold)
    case .assistant: self.init("«", "assistant", .plain)
    case .system: self.init("·", "system", .dim)
    case .tool: self.init("│", "tool", .dim)
    case .thinking: self.init("~", "thinking", .dim)
    }
  }
}
