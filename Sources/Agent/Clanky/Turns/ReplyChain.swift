import Core
import Records

/// Puts the calls of models and tools of one agent into the turns of its answers.
///
/// Newer servers name the message that is answered in each call of a model; then the turn
/// runs from its first one. Otherwise a part waits for the answer. Rows may come in either
/// order of time: an answer is remembered for the parts that come after it, and so is one
/// half of a browser's step for the other.
struct ReplyChain {
  private var waiting: [ChainPart] = []
  /// What is to be told yet.
  private var events: [TurnEvent] = []
  private var turns: [ReplyTurn] = []
  private var told: [StepKey: (part: ChainPart, turn: String?, isInferred: Bool)] = [:]

  /// What has waited so long, by the time of what happens, has no answer.
  private static let patience = Duration.seconds(600)
  private static let most = 1024

  private struct StepKey: Hashable {
    let place: String
    let call: String

    init?(_ part: ChainPart) {
      guard part.isStep, let call = part.calls.first else { return nil }
      (place, self.call) = (part.place, call.id)
    }
  }

  mutating func receive(_ part: ChainPart) {
    var part = part
    if let key = StepKey(part) {
      if let step = told[key] {
        part.complete(with: step.part)
        let index = turns.lastIndex { $0.record.id == step.turn && $0.record.thread == part.place }
        if let index {
          join(part, to: index, isInferred: step.isInferred)
        } else {
          tell(part, in: step.turn, isInferred: step.isInferred)
        }
        return
      }
      if let index = waiting.lastIndex(where: { StepKey($0) == key }) {
        part.complete(with: waiting.remove(at: index))
      }
    }
    if let index = turns.lastIndex(where: { $0.isNamed(by: part) }) {
      join(part, to: index, isInferred: false)
    } else if part.message != nil, ReplyTurn.mayBegin(part) {
      begin(part)
    } else if let index = home(of: part) {
      join(part, to: index, isInferred: true)
    } else if part.time == nil {
      tell(part, in: nil, isInferred: false)
    } else {
      waiting.append(part)
    }
    giveUp(before: part.time)
  }

  mutating func receive(_ end: ReplyTurn) {
    var end = end
    let known = turns.lastIndex {
      $0.record.id == end.record.id && $0.record.thread == end.record.thread
    }
    if let known {
      // What began with its first call, or was answered in several messages.
      let begun = turns.remove(at: known)
      (end.total, end.hasParts) = (begun.total, begun.hasParts)
      // As long as it ran, nobody knew who speaks.
      if begun.person != end.user { end.person = begun.person }
      end.triggers.formUnion(begun.triggers)
      end.record.started = Self.earlier(begun.record.started, end.record.started)
      end.start = Self.earlier(begun.start, end.start)
    }
    let mine = claim(for: &end)
    if end.isTurn, known == nil {
      var begun = end.record
      (begun.state, begun.message, begun.reason, begun.ended) = (.running, nil, nil, nil)
      (begun.usage, begun.cost, begun.time) = (nil, nil, begun.started ?? begun.time)
      events.append(event(.setTurn(begun), begun))
    }
    for (part, isInferred) in mine {
      tell(part, in: end.record.id, isInferred: isInferred)
    }
    if var answer = end.answer {
      answer.turn = end.isTurn ? end.record.id : nil
      events.append(event(.setMessage(answer, text: .whole), end.record))
    }
    if end.isTurn { events.append(event(.setTurn(end.now), end.now)) }
    remember(end)
    giveUp(before: end.record.time)
  }

  private mutating func remember(_ turn: ReplyTurn) {
    turns.append(turn)
    if turns.count > Self.most { turns.removeFirst(Self.most / 2) }
  }

  private static func earlier(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// What came of it since the last time.
  mutating func takeEvents() -> [TurnEvent] {
    defer { events = [] }
    return events
  }

  mutating func finish() {
    for part in waiting { tell(part, in: nil, isInferred: false) }
    waiting = []
  }

  private mutating func claim(for end: inout ReplyTurn) -> [(ChainPart, Bool)] {
    // The newest tells who is answered.
    for part in waiting.reversed() where end.person == nil && end.fits(part) {
      if part.user != end.user { end.person = part.user }
    }
    var mine: [(ChainPart, Bool)] = []
    waiting.removeAll { part in
      let isNamed = end.isNamed(by: part)
      guard isNamed || end.fits(part) else { return false }
      mine.append((part, !isNamed))
      return true
    }
    mine.sort { ($0.0.time ?? Timestamp(seconds: .min)) < ($1.0.time ?? Timestamp(seconds: .min)) }
    for (part, _) in mine { end.add(part) }
    return mine
  }

  /// By place and time: the first that ended after the part, or one that still runs.
  private func home(of part: ChainPart) -> Int? {
    var best: Int?
    for (index, turn) in turns.enumerated() where turn.fits(part) {
      guard let found = best, let end = turns[found].record.ended else {
        best = index
        continue
      }
      if let other = turn.record.ended, other < end { best = index }
    }
    return best
  }

  private mutating func join(_ part: ChainPart, to index: Int, isInferred: Bool) {
    turns[index].add(part)
    tell(part, in: turns[index].record.id, isInferred: isInferred)
    events.append(event(.setTurn(turns[index].now), turns[index].now))
  }

  private mutating func begin(_ part: ChainPart) {
    guard let message = part.message, let origin = part.turn?.origin ?? part.calls.first?.origin
    else { return }
    var record = TurnRecord(
      origin, id: message, thread: part.place, state: .running, time: part.time)
    record.started = part.started
    var turn = ReplyTurn(record, triggers: [message], source: part.source)
    turn.start = part.started
    events.append(event(.setTurn(record), record))
    remember(turn)
    join(part, to: turns.count - 1, isInferred: false)
  }

  /// Tells of a part, and remembers a step for its other half.
  private mutating func tell(_ part: ChainPart, in turn: String?, isInferred: Bool) {
    events += part.events(in: turn, isInferred: isInferred)
    guard let key = StepKey(part) else { return }
    if told.count >= Self.most { told.removeAll() }
    told[key] = (part, turn, isInferred)
  }

  private mutating func giveUp(before now: Timestamp?) {
    var lost: [ChainPart] = []
    if waiting.count > Self.most {
      lost = Array(waiting.prefix(Self.most / 2))
      waiting.removeFirst(lost.count)
    }
    if let now, let first = waiting.first?.time, first.adding(Self.patience) < now {
      lost += waiting.filter { $0.time?.adding(Self.patience) ?? now < now }
      waiting.removeAll { $0.time?.adding(Self.patience) ?? now < now }
    }
    for part in lost { tell(part, in: nil, isInferred: false) }
  }

  private func event(_ change: TurnChange, _ turn: TurnRecord) -> TurnEvent {
    TurnEvent(turn.origin, thread: turn.thread, time: turn.time, change)
  }
}
