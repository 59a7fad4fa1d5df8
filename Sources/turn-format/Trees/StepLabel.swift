import Core
import Records
import Screen

struct StepLabel {
  var head = Line()
  var subject = Line()
  var facts: [Line.Span] = []
  private(set) var isSaid = false

  init(_ record: ConversationRecord, limit: Int) {
    switch record {
    case .thread: break
    case .message(let message): show(message, limit)
    case .turn(let turn): show(turn, limit)
    case .toolCall(let call): show(call, limit)
    case .approval(let approval): show(approval, limit)
    }
  }

  private mutating func show(_ message: MessageRecord, _ limit: Int) {
    let mark = Mark(message.role)
    head.add("\(mark.sign) ", mark.style)
    let name = message.author.map { Plain.line($0, limit: 80) } ?? mark.word
    head.add("\(name):", .dim)
    isSaid = true
    subject.add(Plain.line(message.text, limit: limit), message.role == .thinking ? .dim : .plain)
    if message.state != .final {
      facts.append(Line.Span(message.state.rawValue, Style(Palette.warning)))
    }
  }

  private mutating func show(_ turn: TurnRecord, _ limit: Int) {
    let mark = Mark(turn.state)
    head.add("\(mark.sign) ", mark.style)
    head.add(Fit.truncate(Plain.line(turn.agent ?? "turn", limit: 200), to: 40), .bold)
    if let reason = turn.reason { subject.add(Plain.line(reason, limit: limit), .dim) }
    if turn.state != .completed { facts.append(Line.Span(mark.word, mark.style)) }
    facts += Facts.of(Totals(turn))
    took(turn.ended?.milliseconds(since: turn.started))
  }

  private mutating func show(_ call: ToolCallRecord, _ limit: Int) {
    let view = CallView(call)
    let renderer = CallRenderers.of(call.tool)
    let mark = Mark(call.state)
    head.add("\(mark.sign) ", mark.style)
    head.add(Fit.truncate(Plain.line(call.tool, limit: 200), to: 40), Style(Palette.tool))
    if let text = renderer.subject(of: view) { subject.add(Plain.line(text, limit: limit)) }
    if call.state != .succeeded { facts.append(Line.Span(mark.word, mark.style)) }
    facts += renderer.facts(of: view)
    took(
      call.milliseconds.map { Double($0) } ?? call.ended?.milliseconds(since: call.started))
  }

  private mutating func show(_ approval: ApprovalRecord, _ limit: Int) {
    let mark = Mark(approval.state)
    head.add("\(mark.sign) ", mark.style)
    head.add("approval \(Fit.truncate(Plain.line(approval.tool, limit: 200), to: 40))")
    if let summary = approval.summary { subject.add(Plain.line(summary, limit: limit)) }
    facts.append(Line.Span(mark.word, mark.style))
  }

  private mutating func took(_ milliseconds: Double?) {
    if let milliseconds { facts.append(Line.Span(Amount.duration(milliseconds), .dim)) }
  }
}
