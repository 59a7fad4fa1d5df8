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
}
