import Core
import Records
import Screen

/// What a turn did, as a person sees it: a line that says how it is, a row for each thing
/// in it, the answer, and what it took.
struct Card {
  private let story: Story
  private let thread: StoryBook.Thread
  private let layout: CardLayout
  private let steps: [Story.Step]

  private static let deepest = 6

  init(_ story: Story, thread: StoryBook.Thread, _ layout: CardLayout) {
    (self.story, self.thread, self.layout) = (story, thread, layout)
    steps = story.walk()
  }

  var lines: [Line] {
    guard story.key.kind == .turn else { return loose }
    var lines = [head] + reason
    let answer = story.turn?.message
    var last: [Line] = []
    for step in steps {
      let indent = 2 * (min(step.depth, Self.deepest) + 1)
      switch step.part.record {
      case .thread: break
      case .message(let message):
        let rows = MessageRows(message, layout, indent: indent)
        if message.id == answer { last = rows.lines } else { lines += rows.lines }
      case .turn(let turn): lines.append(row(of: turn, indent))
      case .toolCall(let call):
        lines += CallRows(call, layout, indent: indent).lines
      case .approval(let approval):
        if approval.state == .pending || !isInACall(step) {
          lines += ApprovalRows(approval, layout, indent: indent).lines
        }
      }
    }
    return lines + last + subtotal
  }

  private var loose: [Line] {
    var lines: [Line] = []
    let first = story.parts[story.key].map { [($0, 0)] } ?? []
    for (part, indent) in first + steps.map({ ($0.part, 2 * min($0.depth + 1, Self.deepest)) }) {
      switch part.record {
      case .message(let message):
        lines += MessageRows(message, layout, indent: indent, isAlone: true).lines
      case .toolCall(let call): lines += CallRows(call, layout, indent: indent).lines
      case .approval(let approval): lines += ApprovalRows(approval, layout, indent: indent).lines
      case .turn, .thread: break
      }
    }
    return lines
  }

  private func isInACall(_ step: Story.Step) -> Bool {
    step.part.record.call.map { story.parts[$0] != nil } ?? false
  }

  private var head: Line {
    let mark = Mark(story.turn?.state)
    var row = Row()
    row.head.add("\(mark.sign) \(mark.word)", mark.style)
    let names = [
      story.key.origin.profile, story.turn?.agent ?? thread.agent, thread.title ?? story.thread,
    ]
    for name in names.compactMap(\.self) {
      if !row.subject.spans.isEmpty { row.subject.add(" · ", .dim) }
      row.subject.add(Plain.line(name, limit: layout.limit), .bold)
    }
    if let started = story.started {
      row.facts.append(Line.Span(layout.clock(started), .dim))
      let end = story.ended ?? layout.now ?? story.latest
      if let took = end?.milliseconds(since: started), took > 0 || story.isEnded {
        row.facts.append(Line.Span(Amount.duration(took), .dim))
      }
    }
    return row.line(width: layout.width)
  }

  private var reason: [Line] {
    guard let turn = story.turn, let reason = turn.reason, !reason.isEmpty else { return [] }
    let style: Style = turn.state == .failed ? Style(Palette.error) : .dim
    return layout.fold(Plain.line(reason, limit: 2000), indent: 2, rows: 3, style)
  }

  private func row(of turn: TurnRecord, _ indent: Int) -> Line {
    let mark = Mark(turn.state)
    var row = Row()
    row.head.add(Fit.spaces(indent))
    row.head.add(mark.sign, mark.style)
    row.head.add(" ")
    row.head.add(Fit.truncate(Plain.line(turn.agent ?? "turn", limit: 200), to: 40), .bold)
    if let reason = turn.reason { row.subject.add(Plain.line(reason, limit: layout.limit)) }
    if turn.state != .completed { row.facts.append(Line.Span(mark.word, mark.style)) }
    row.facts += Facts.of(Totals(turn))
    if let took = (turn.ended ?? layout.now)?.milliseconds(since: turn.started) {
      row.facts.append(Line.Span(Amount.duration(took), .dim))
    }
    return row.line(width: layout.width)
  }

  private var subtotal: [Line] {
    var calls = 0
    for step in steps { if case .toolCall = step.part.record { calls += 1 } }
    let totals = Totals(story, steps: steps)
    if calls == 0 && totals.isEmpty { return [] }
    var row = Row()
    row.head.add("  = ", .dim)
    var facts = Facts.of(totals)
    if calls > 0 { facts.insert(Line.Span(calls == 1 ? "1 call" : "\(calls) calls", .dim), at: 0) }
    let end = story.ended ?? layout.now ?? story.latest
    if let took = end?.milliseconds(since: story.started) {
      facts.append(Line.Span(Amount.duration(took), .dim))
    }
    if let first = facts.first { row.head.add(first.text, first.style) }
    row.facts = Array(facts.dropFirst())
    return [row.line(width: layout.width)]
  }
}

enum Facts {
  static func of(_ totals: Totals) -> [Line.Span] {
    var facts: [Line.Span] = []
    if let count = totals.inputTokens {
      facts.append(Line.Span("\(Amount.count(Double(count))) in", .dim))
    }
    if let count = totals.outputTokens {
      facts.append(Line.Span("\(Amount.count(Double(count))) out", .dim))
    }
    if let cost = totals.cost { facts.append(Line.Span(Amount.money(cost))) }
    return facts
  }
}
