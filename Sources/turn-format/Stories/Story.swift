import Core
import Records
import Screen

/// A turn with all that belongs to it; or one thing that belongs to no turn.
struct Story {
  struct Part {
    var record: ConversationRecord
    let order: Int
    let since: Timestamp?
  }

  let key: PartKey
  private(set) var parts: [PartKey: Part] = [:]
  private var count = 0
  private var first = 0
  /// The newest time of any of its records, and the time that the first of its parts began.
  private(set) var latest: Timestamp?
  private var earliest: Timestamp?

  init(_ key: PartKey) { self.key = key }

  /// Takes a record, in the place of the one before about the same.
  mutating func add(_ record: ConversationRecord, as key: PartKey) {
    if let time = record.record.time { latest = max(latest ?? time, time) }
    if let known = parts[key] {
      guard known.record.mayBecome(record) else { return }
      parts[key]?.record = record
    } else {
      let since = record.began
      if let since { earliest = min(earliest ?? since, since) }
      parts[key] = Part(record: record, order: count, since: since)
      count += 1
    }
  }

  /// Takes all of another story, as what came after its own. The smaller one is moved into
  /// the larger: a chain may be told from its end.
  mutating func merge(_ other: inout Story) {
    if let time = other.latest { latest = max(latest ?? time, time) }
    if let time = other.earliest { earliest = min(earliest ?? time, time) }
    if parts.count < other.parts.count {
      swap(&parts, &other.parts)
      let shift = other.first - count
      for (key, part) in other.parts where parts[key] == nil {
        parts[key] = Part(record: part.record, order: part.order + shift, since: part.since)
      }
      (first, count) = (first + shift, other.count)
      return
    }
    let shift = count - other.first
    for (key, part) in other.parts {
      parts[key] = Part(record: part.record, order: part.order + shift, since: part.since)
    }
    count = other.count + shift
  }

  /// The turn's own record; nil where nothing was heard of it, or it is no turn.
  var turn: TurnRecord? {
    guard case .turn(let turn)? = parts[key]?.record else { return nil }
    return turn
  }

  var isEnded: Bool { parts[key]?.record.isEnded ?? false }

  var started: Timestamp? { turn?.started ?? earliest }

  var ended: Timestamp? {
    guard isEnded else { return nil }
    return turn.map { $0.ended ?? $0.time } ?? latest
  }

  var thread: String? { (parts[key] ?? parts.values.first)?.record.thread }
}

extension ConversationRecord {
  fileprivate var began: Timestamp? {
    switch self {
    case .turn(let turn): turn.started ?? turn.time
    case .toolCall(let call): call.started ?? call.time
    default: record.time
    }
  }
}

/// What a record is about: the same for each that replaces it.
struct PartKey: Hashable {
  enum Kind: Hashable {
    case turn, message, call, approval
  }

  let origin: RecordOrigin
  let kind: Kind
  let id: String

  init(_ origin: RecordOrigin, _ kind: Kind, _ id: String) {
    (self.origin, self.kind, self.id) = (origin, kind, id)
  }

  init?(_ record: ConversationRecord) {
    switch record {
    case .thread: return nil
    case .message(let message): self.init(message.origin, .message, message.id)
    case .turn(let turn): self.init(turn.origin, .turn, turn.id)
    case .toolCall(let call): self.init(call.origin, .call, call.id)
    case .approval(let approval): self.init(approval.origin, .approval, approval.id)
    }
  }
}

extension ConversationRecord {
  var parent: PartKey? {
    if case .turn(let turn) = self { return turn.parent.map { PartKey(turn.origin, .turn, $0) } }
    return turn.map { PartKey(record.origin, .turn, $0) }
  }

  var call: PartKey? {
    switch self {
    case .approval(let approval): approval.toolCall.map { PartKey(approval.origin, .call, $0) }
    case .turn(let turn): turn.toolCall.map { PartKey(turn.origin, .call, $0) }
    default: nil
    }
  }

  func isAnswer(_ state: MessageRecord.State) -> Bool {
    guard case .message(let message) = self else { return false }
    return message.role == .assistant && message.state == state
  }

  /// Whether it is a draft that another message took the place of: it is not shown.
  var isReplaced: Bool {
    guard case .message(let message) = self else { return false }
    return message.state == .aborted && message.reason?.hasPrefix("replaced by ") == true
  }

  /// Whether it is over. Whether ours arrived may never be known.
  var isEnded: Bool {
    switch self {
    case .thread: false
    case .message(let message): message.state.isEnd || message.state == .unconfirmed
    case .turn(let turn): turn.state.isEnd
    case .toolCall(let call): call.state.isEnd
    case .approval(let approval): approval.state.isEnd
    }
  }

  /// An end never turns back.
  func mayBecome(_ next: ConversationRecord) -> Bool {
    switch (self, next) {
    case (.message(let old), .message(let new)): old.state.mayBecome(new.state)
    case (.turn(let old), .turn(let new)): old.state.mayBecome(new.state)
    case (.toolCall(let old), .toolCall(let new)): old.state.mayBecome(new.state)
    case (.approval(let old), .approval(let new)): old.state.mayBecome(new.state)
    default: false
    }
  }
}

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
