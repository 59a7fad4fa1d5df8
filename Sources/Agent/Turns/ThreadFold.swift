import Core
import Records

/// What is known of one conversation, and how an event changes it: the profile of
/// Agent/Pincer/CONTRACT.md 6, in the words of all backends.
final class ThreadFold {
  let book: FoldBook
  let origin: RecordOrigin
  /// The conversation's id; empty as long as no event named one.
  var id: String
  /// The highest number of an event.
  private(set) var lastSequence: Int64 = 0
  /// The numbers of events that were passed over, both ends inclusive. Where all is kept.
  private(set) var gaps: [(from: Int64, to: Int64)] = []
  /// The turn that events are about that name none.
  var active: FoldedTurn?
  /// The turns in order, and the messages. Where all is kept.
  private(set) var turns: [FoldedTurn] = []
  private(set) var messages: [FoldedMessage] = []

  private var turnsByID: [String: FoldedTurn] = [:]
  private var messagesByID: [String: FoldedMessage] = [:]
  /// Of each call the one in the newest turn, and which ids stand in several turns.
  private var calls: [String: FoldedCall] = [:]
  private var ambiguous: Set<String> = []
  /// Where the next piece of a text goes, by the turn's id or that of the segment.
  var drafts = TextPlaces()
  var thoughts = TextPlaces()
  /// How many drafts got another id, by the same. Their ids never come again in records.
  var withdrawn: [String: Int] = [:]
  /// What runs or ran, by the execution's id; and the calls that approvals are about.
  var executions: [String: AttachedExecution] = [:]
  var asked: [String: FoldedCall] = [:]
  private var seen = SeenIDs()
  private var turnCount = 0

  /// So many event ids are remembered, then they are forgotten.
  private static let mostSeen = 8192

  init(_ book: FoldBook, _ origin: RecordOrigin, _ id: String) {
    self.book = book
    self.origin = origin
    self.id = id
  }

  /// Whether nothing of it is open or kept.
  var isIdle: Bool { turnsByID.isEmpty && messagesByID.isEmpty && calls.isEmpty }

  /// Takes an event of this conversation.
  ///
  /// - Parameter isNamed: whether anybody says that it is of this one.
  func take(_ event: TurnEvent, isNamed: Bool) {
    guard counts(event) else { return }
    if event.change.isStep {
      // Nobody can say what this is about.
      if !isNamed { return }
      if !event.turn.isEmpty, turnsByID[event.turn] == nil,
        book.isGone(.turn, origin, event.turn)
      {
        return
      }
      step(event)
    } else {
      set(event)
    }
  }

  /// Whether an event is new; if so, its id and its number are noted.
  private func counts(_ event: TurnEvent) -> Bool {
    if !event.id.isEmpty {
      guard seen.insert(event.id) else { return false }
      if seen.count >= Self.mostSeen { seen.forgetAll(but: event.id) }
    }
    if book.keepsAll, lastSequence > 0, event.sequence > lastSequence,
      event.sequence - lastSequence > 1
    {
      gaps.append((lastSequence + 1, event.sequence - 1))
    }
    lastSequence = max(lastSequence, event.sequence)
    return true
  }

  /// Begins where a snapshot left off.
  func begin(_ snapshot: [MessageRecord], lastSequence: Int64) {
    self.lastSequence = lastSequence
    for record in snapshot {
      let message = FoldedMessage(record)
      keep(message)
    }
  }

  // MARK: - Turns

  /// The turn of an id.
  func turn(_ id: String) -> FoldedTurn? { turnsByID[id] }

  /// The turn that an event names, if it is known; the active one where it names none.
  func named(_ event: TurnEvent) -> FoldedTurn? {
    event.turn.isEmpty ? active : turnsByID[event.turn]
  }

  /// The same, but a turn that is not known is made; and unless it is over, it is active.
  func ensure(_ event: TurnEvent) -> FoldedTurn? {
    if event.turn.isEmpty { return active }
    if let active, active.id == event.turn { return active }
    let turn = turnsByID[event.turn] ?? begin(event)
    if !turn.isEnded { active = turn }
    return turn
  }

  /// Makes a turn, the last one in order.
  func begin(_ event: TurnEvent) -> FoldedTurn {
    var record = TurnRecord(
      origin, id: event.turn, thread: id, state: .running, time: event.time)
    record.started = event.time
    let turn = add(record)
    book.mark(turn)
    return turn
  }

  /// Adds a turn that nobody has heard of.
  func add(_ record: TurnRecord) -> FoldedTurn {
    let turn = FoldedTurn(record, order: turnCount)
    turnCount += 1
    turnsByID[turn.id] = turn
    if book.keepsAll { turns.append(turn) }
    // What was said in it before it was known.
    for text in [drafts[turn.id], thoughts[turn.id]] {
      if let text { turn.messages.append(text) }
    }
    return turn
  }

  /// Ends a turn that is not over.
  ///
  /// - Parameter endsTexts: whether what it said is whole by that; where each message has an
  ///   end of its own only its thoughts are.
  func end(
    _ turn: FoldedTurn, _ state: TurnRecord.State, _ event: TurnEvent, endsTexts: Bool = true
  ) {
    turn.record.state = state
    turn.record.ended = turn.record.ended ?? event.time
    turn.record.time = event.time ?? turn.record.time
    turn.isThinking = false
    if active === turn { active = nil }
    let last: MessageRecord.State =
      switch state {
      case .failed: .failed
      case .aborted: .aborted
      default: .final
      }
    for message in turn.messages
    where !message.isEnded && (endsTexts || message.record.role == .thinking) {
      message.record.state = last
      message.record.time = event.time ?? message.record.time
      if message.isRecord { book.mark(message) }
    }
    book.mark(turn)
    leave(turn)
  }

  /// A turn that is over may be forgotten, with all that belongs to it.
  func leave(_ turn: FoldedTurn) {
    book.leave(turn, .turn, origin, turn.id) { [self] in forget(turn) }
  }

  private func forget(_ turn: FoldedTurn) {
    turnsByID[turn.id] = nil
    for message in turn.messages { forget(message) }
    withdrawn[turn.id] = nil
    drafts[turn.id] = nil
    thoughts[turn.id] = nil
    for call in turn.calls { forget(call) }
    turn.calls = []
    turn.messages = []
  }

  // MARK: - Messages

  /// The message of an id.
  func message(_ id: String) -> FoldedMessage? { messagesByID[id] }

  /// Adds a message, the last one in order, to the thread and to its turn.
  func keep(_ message: FoldedMessage) {
    messagesByID[message.stateID] = message
    if book.keepsAll { messages.append(message) }
    if let id = message.record.turn, let turn = turnsByID[id] { turn.messages.append(message) }
  }

  /// Gives a message another id, which no message has.
  func rename(_ message: FoldedMessage, _ id: String) {
    messagesByID[message.stateID] = nil
    (message.record.id, message.stateID) = (id, id)
    messagesByID[id] = message
  }

  /// Takes a message out of the thread and of its turn.
  func drop(_ message: FoldedMessage) {
    forget(message)
    if book.keepsAll { messages.removeAll { $0 === message } }
    if let id = message.record.turn { turnsByID[id]?.messages.removeAll { $0 === message } }
  }

  /// Forgets a message that belongs to no turn, or whose turn is forgotten.
  func forget(_ message: FoldedMessage) {
    let id = message.stateID
    if messagesByID[id] === message { messagesByID[id] = nil }
  }

  // MARK: - Calls

  /// The call of an id: in a turn, else the one in the newest turn that has it.
  func call(_ id: String, in turn: FoldedTurn?) -> FoldedCall? {
    guard let newest = calls[id] else { return nil }
    guard let turn, newest.turn !== turn, ambiguous.contains(id) else { return newest }
    return turn.calls.first { $0.id == id } ?? newest
  }

  /// Adds a call, the last one of its turn.
  func keep(_ call: FoldedCall) {
    call.turn?.calls.append(call)
    if let other = calls[call.id] {
      ambiguous.insert(call.id)
      if let newer = other.turn?.order, newer > call.turn?.order ?? -1 { return }
    }
    calls[call.id] = call
  }

  /// Forgets a call that belongs to no turn, or whose turn is forgotten.
  func forget(_ call: FoldedCall) {
    if calls[call.id] === call {
      calls[call.id] = nil
      ambiguous.remove(call.id)
    }
    for execution in call.executions { executions[execution.id] = nil }
    if let approval = call.record.approval {
      asked[approval] = nil
      book.forgetApproval(origin, approval)
    }
  }
}

/// A run of a tool, and what is not yet a character of what it printed.
final class AttachedExecution {
  /// Nil where its call was not known when it began: then it is of the messages alone.
  let call: FoldedCall?
  let execution: FoldedExecution?
  var stdout = TextDecoder()
  var stderr = TextDecoder()

  init(_ call: FoldedCall?, _ execution: FoldedExecution?) {
    self.call = call
    self.execution = execution
  }
}
