import Core
import Records
import Screen

struct TreeText {
  private let story: Story
  private let thread: StoryBook.Thread
  private let layout: CardLayout
  private let steps: [Story.Step]

  private static let deepest = 8

  init(_ story: Story, thread: StoryBook.Thread, _ layout: CardLayout) {
    (self.story, self.thread, self.layout) = (story, thread, layout)
    steps = story.walk()
  }

  var heading: Line {
    var row = Row()
    let names = [story.key.origin.profile, thread.title, story.thread ?? "no conversation"]
    for name in names.compactMap(\.self) {
      if !row.subject.spans.isEmpty { row.subject.add(" · ", .dim) }
      row.subject.add(Plain.line(name, limit: layout.limit), .bold)
    }
    row.facts = [Line.Span(story.key.origin.backend.rawValue, .dim)]
    return row.line(width: layout.width)
  }

  var lines: [Line] { [first] + branches }

  private var first: Line {
    var row = Row()
    if story.key.kind != .turn, let part = story.parts[story.key] {
      let label = StepLabel(part.record, limit: layout.limit)
      (row.head, row.subject, row.facts) = (label.head, label.subject, label.facts)
      if label.isSaid { row.gap = 1 }
    } else {
      let mark = Mark(story.turn?.state)
      row.head.add("\(mark.sign) \(mark.word)", mark.style)
      let words = [story.turn?.agent ?? thread.agent, story.turn?.reason].compactMap(\.self)
      row.subject.add(Plain.line(words.joined(separator: ": "), limit: layout.limit))
      row.facts = Facts.of(Totals(story, steps: steps))
    }
    if let started = story.started {
      row.facts.append(Line.Span(layout.clock(started), .dim))
      let end = story.ended ?? layout.now ?? story.latest
      if story.key.kind == .turn, let took = end?.milliseconds(since: started) {
        row.facts.append(Line.Span(Amount.duration(took), .dim))
      }
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
      var row = Row()
      let stems = goesOn.prefix(min(step.depth, Self.deepest))
      row.head.add(stems.map { $0 ? "│  " : "   " }.joined(), .dim)
      row.head.add(step.isLast ? "└─ " : "├─ ", .dim)
      if let offset = offset(of: step) { row.head.add(offset + " ", .dim) }
      let label = StepLabel(step.part.record, limit: layout.limit)
      row.head.add(label.head)
      (row.subject, row.facts) = (label.subject, label.facts)
      if label.isSaid { row.gap = 1 }
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
