import Core
import Records
import Screen

extension Story {
  struct Step {
    let key: PartKey
    let part: Part
    /// How many parts it stands in; 0 for those of the story itself.
    let depth: Int
    let isLast: Bool
  }

  /// All parts but the first as they happened, each with its own; without a time, as heard.
  func walk() -> [Step] {
    // What stays behind when the answer is there was a draft of it.
    let isAnswered = parts.values.contains { $0.record.isAnswer(.final) }
    let seen = parts.filter { _, part in
      !part.record.isReplaced && !(isAnswered && part.record.isAnswer(.aborted))
    }
    var below: [PartKey: [(key: PartKey, part: Part)]] = [:]
    for (key, part) in seen where key != self.key {
      let places = [part.record.call, part.record.parent].compactMap(\.self)
      let home = places.first { $0 != key && seen[$0] != nil } ?? self.key
      below[home, default: []].append((key, part))
    }
    var steps: [Step] = []
    var done: Set<PartKey> = [key]
    add(below, to: &steps, &done)
    // Parts of each other: no way leads to them from the first.
    let lost = seen.filter { !done.contains($0.key) }.map { (key: $0.key, part: $0.value) }
    if !lost.isEmpty { add([key: lost], to: &steps, &done) }
    return steps
  }

  /// Without recursion: how deep it goes is up to whoever wrote the records.
  private func add(
    _ below: [PartKey: [(key: PartKey, part: Part)]], to steps: inout [Step],
    _ seen: inout Set<PartKey>
  ) {
    var waiting: [(parts: [(key: PartKey, part: Part)], next: Int)] = []
    waiting.append((Self.sorted(below[key] ?? []), 0))
    while let (siblings, next) = waiting.last {
      guard next < siblings.count else {
        waiting.removeLast()
        continue
      }
      waiting[waiting.count - 1].next += 1
      let (key, part) = siblings[next]
      guard seen.insert(key).inserted else { continue }
      steps.append(
        Step(key: key, part: part, depth: waiting.count - 1, isLast: next == siblings.count - 1))
      if let own = below[key] { waiting.append((Self.sorted(own), 0)) }
    }
  }

  private static func sorted(
    _ parts: [(key: PartKey, part: Part)]
  ) -> [(key: PartKey, part: Part)] {
    var last = Timestamp(seconds: .min)
    let timed = parts.sorted { $0.part.order < $1.part.order }.map { entry in
      last = entry.part.since ?? last
      return (time: last, entry: entry)
    }
    return timed.sorted {
      ($0.time, $0.entry.part.order) < ($1.time, $1.entry.part.order)
    }.map(\.entry)
  }
}

struct Totals: Equatable {
  var inputTokens: Int?
  var outputTokens: Int?
  /// US dollars.
  var cost: Double?

  init(_ turn: TurnRecord?) {
    inputTokens = turn?.usage?.inputTokens
    outputTokens = turn?.usage?.outputTokens
    cost = turn?.cost
  }

  /// Of a whole story: each is what the turn says, and where it does not, the sum of what
  /// its parts say. So nothing is counted twice.
  init(_ story: Story, steps: [Story.Step]) {
    self.init(story.turn)
    let turns = steps.compactMap { step in
      if case .turn(let turn) = step.part.record { (Totals(turn), step.depth) } else { nil }
    }
    inputTokens = inputTokens ?? Self.sum(turns.map { ($0.inputTokens, $1) }, Self.add)
    outputTokens = outputTokens ?? Self.sum(turns.map { ($0.outputTokens, $1) }, Self.add)
    cost = cost ?? Self.sum(turns.map { ($0.cost, $1) }, +)
  }

  private static func add(_ one: Int, _ other: Int) -> Int {
    let (sum, isHuge) = one.addingReportingOverflow(other)
    return isHuge ? .max : sum
  }

  private static func sum<Value>(
    _ values: [(value: Value?, depth: Int)], _ add: (Value, Value) -> Value
  ) -> Value? {
    var total: Value?
    // What is deeper than a turn that says it is a part of that.
    var counted = Int.max
    for (value, depth) in values {
      if depth > counted { continue }
      counted = value == nil ? .max : depth
      if let value { total = total.map { add($0, value) } ?? value }
    }
    return total
  }

  var facts: [Line.Span] {
    [
      inputTokens.map { Line.Span("\(Amount.count(Double($0))) in", .dim) },
      outputTokens.map { Line.Span("\(Amount.count(Double($0))) out", .dim) },
      cost.map { Line.Span(Amount.money($0)) },
    ].compactMap(\.self)
  }
}
