import Core
import Records
import Screen

/// What a turn did, as a person sees it, or one thing that belongs to none.
struct StoryText {
  let story: Story
  let thread: StoryBook.Thread
  let layout: CardLayout
  let steps: [Story.Step]

  private static let deepestInCard = 6, deepestInTree = 8

  init(_ story: Story, _ thread: StoryBook.Thread, _ layout: CardLayout) {
    (self.story, self.thread, self.layout) = (story, thread, layout)
    steps = story.walk()
  }

  var totals: Totals { Totals(story, steps: steps) }

  /// Who does it, and why it ended.
  var words: [String] {
    [story.turn?.agent ?? thread.agent, story.turn?.reason].compactMap(\.self)
  }

  /// Milliseconds, so far where it goes on.
  var took: Double? {
    (story.ended ?? layout.now ?? story.latest)?.milliseconds(since: story.started)
  }

  private func names(_ names: [String?]) -> Line {
    var line = Line()
    for name in names.compactMap(\.self) {
      if !line.spans.isEmpty { line.add(" · ", .dim) }
      line.add(Plain.line(name, limit: layout.limit), .bold)
    }
    return line
  }

  // MARK: - A card

  /// A line that says how it is, a row for each thing in it, the answer, and what it took.
  var card: [Line] {
    guard story.key.kind == .turn else { return loose }
    var lines = [head] + reason
    let answer = story.turn?.message
    var last: [Line] = []
    for step in steps {
      let indent = 2 * (min(step.depth, Self.deepestInCard) + 1)
      switch step.part.record {
      case .thread: break
      case .message(let message):
        let rows = layout.lines(message, indent: indent)
        if message.id == answer { last = rows } else { lines += rows }
      case .turn(let turn):
        let row = Row(turn, limit: layout.limit, indent: indent, now: layout.now, reason: .plain)
        lines.append(row.line(width: layout.width))
      case .toolCall(let call): lines += layout.lines(call, indent: indent)
      case .approval(let approval):
        if approval.state == .pending || !isInACall(step) {
          lines += layout.lines(approval, indent: indent)
        }
      }
    }
    return lines + last + subtotal
  }

  private var loose: [Line] {
    let first = story.parts[story.key].map { [($0, 0)] } ?? []
    let others = steps.map { ($0.part, 2 * min($0.depth + 1, Self.deepestInCard)) }
    return (first + others).flatMap { part, indent -> [Line] in
      switch part.record {
      case .message(let message): layout.lines(message, indent: indent, isAlone: true)
      case .toolCall(let call): layout.lines(call, indent: indent)
      case .approval(let approval): layout.lines(approval, indent: indent)
      case .turn, .thread: []
      }
    }
  }

  private func isInACall(_ step: Story.Step) -> Bool {
    step.part.record.call.map { story.parts[$0] != nil } ?? false
  }

  private var head: Line {
    let mark = Mark(story.turn?.state)
    var row = Row()
    row.head.add("\(mark.sign) \(mark.word)", mark.style)
    row.subject = names([
      story.key.origin.profile, story.turn?.agent ?? thread.agent, thread.title ?? story.thread,
    ])
    if let started = story.started {
      row.add(layout.clock(started))
      if let took, took > 0 || story.isEnded { row.took(took) }
    }
    return row.line(width: layout.width)
  }

  private var reason: [Line] {
    guard let turn = story.turn, let reason = turn.reason, !reason.isEmpty else { return [] }
    let style: Style = turn.state == .failed ? Style.error : .dim
    return layout.fold(Plain.line(reason, limit: 2000), indent: 2, rows: 3, style)
  }

  private var subtotal: [Line] {
    let calls = steps.count { if case .toolCall = $0.part.record { true } else { false } }
    var row = Row()
    if calls > 0 { row.add(calls == 1 ? "1 call" : "\(calls) calls") }
    row.facts += totals.facts
    if row.facts.isEmpty { return [] }
    row.took(took)
    row.head.add("  = ", .dim)
    let first = row.facts.removeFirst()
    row.head.add(first.text, first.style)
    return [row.line(width: layout.width)]
  }

  // MARK: - A tree

  /// Of which conversation it is.
  var heading: Line {
    var row = Row()
    row.subject = names([
      story.key.origin.profile, thread.title, story.thread ?? "no conversation",
    ])
    row.facts = [Line.Span(story.key.origin.backend.rawValue, .dim)]
    return row.line(width: layout.width)
  }

  var tree: [Line] { [root] + branches }

  private var root: Line {
    var row = Row()
    if story.key.kind != .turn, let part = story.parts[story.key] {
      row = Row(part.record, limit: layout.limit)
    } else {
      let mark = Mark(story.turn?.state)
      row.head.add("\(mark.sign) \(mark.word)", mark.style)
      row.subject.add(Plain.line(words.joined(separator: ": "), limit: layout.limit))
      row.facts = totals.facts
    }
    if let started = story.started {
      row.add(layout.clock(started))
      if story.key.kind == .turn { row.took(took) }
    }
    return row.line(width: layout.width)
  }

  private var branches: [Line] {
    // Whether something follows at each depth, below which a line is drawn.
    var goesOn: [Bool] = []
    return steps.map { step in
      goesOn.removeLast(max(0, goesOn.count - step.depth))
      while goesOn.count < step.depth { goesOn.append(false) }
      goesOn.append(!step.isLast)
      let stems = goesOn.prefix(min(step.depth, Self.deepestInTree))
      var row = Row(step.part.record, limit: layout.limit)
      var head = Line(stems.map { $0 ? "│  " : "   " }.joined(), .dim)
      head.add(step.isLast ? "└─ " : "├─ ", .dim)
      if let offset = offset(of: step) { head.add(offset + " ", .dim) }
      head.add(row.head)
      row.head = head
      return row.line(width: layout.width)
    }
  }

  /// Seconds with a decimal; the message that a turn answers comes before it.
  private func offset(of step: Story.Step) -> String? {
    guard let since = step.part.since, let started = story.started else { return nil }
    let (sign, from, to) = since < started ? ("-", since, started) : ("+", started, since)
    guard let milliseconds = to.milliseconds(since: from) else { return nil }
    return sign
      + (milliseconds < 9_950
        ? Amount.fixed(milliseconds / 1000, 1) + "s" : Amount.duration(milliseconds))
  }
}
