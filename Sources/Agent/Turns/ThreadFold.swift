import Core
import Records

/// What is known of one conversation, and how an event changes it: the profile of
/// Agent/Pincer/CONTRACT.md 6, in the words of all backends.
final class ThreadFold {
  let book: FoldBook
  let origin: RecordOrigin
  var id: String
  private(set) var lastSequence: Int64 = 0
  /// The numbers of events that were passed over, both ends inclusive. Where all is kept.
  private(set) var gaps: [(from: Int64, to: Int64)] = []
  /// The turn that events are about that name none.
  var active: FoldedTurn?
  /// The turn whose end came while actions of it were open.
  var held: FoldedTurn?
  /// The turns in order, and the messages. Where all is kept.
  private(set) var turns: [FoldedTurn] = []
  private(set) var messages: [FoldedMessage] = []

  private var turnsByID: [String: FoldedTurn] = [:]
  private var messagesByID: [String: FoldedMessage] = [:]
  /// Of each call the one in the newest turn, and which ids stand in several turns.
  private var calls: [String: FoldedCall] = [:]
  private var ambiguous: Set<String> = []
  var drafts = TextPlaces()
  var thoughts = TextPlaces()
  /// How many drafts got another id, by the same. Their ids never come again in records.
  var withdrawn: [String: Int] = [:]
  /// What runs or ran, by the execution's id; and the calls that approvals are about.
  var executions: [String: AttachedExecution] = [:]
  var asked: [String: FoldedCall] = [:]
  private var seen = SeenIDs()
  private var turnCount = 0

  private static let mostSeen = 8192
  /// The most calls of a turn that are known, unless all is kept.
  private static let mostCalls = 1000

  init(_ book: FoldBook, _ origin: RecordOrigin, _ id: String) {
    (self.book, self.origin, self.id) = (book, origin, id)
  }

  var isIdle: Bool { turnsByID.isEmpty && messagesByID.isEmpty && calls.isEmpty }

  /// `isNamed`: whether anybody says that it is of this conversation.
  func receive(_ event: TurnEvent, isNamed: Bool) {
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

  func begin(_ snapshot: [MessageRecord], lastSequence: Int64) {
    self.lastSequence = lastSequence
    for record in snapshot {
      let message = FoldedMessage(record)
      keep(message)
    }
  }

  // MARK: - Turns

  func turn(_ id: String) -> FoldedTurn? { turnsByID[id] }

  func named(_ event: TurnEvent) -> FoldedTurn? {
    event.turn.isEmpty ? active : turnsByID[event.turn]
  }

  /// The same, but a turn that is not known is made; and unless it is over, it is active.
  func ensure(_ event: TurnEvent) -> FoldedTurn? {
    if event.turn.isEmpty { return active }
    if let active, active.id == event.turn { return active }
    let turn = turnsByID[event.turn] ?? begin(event)
    if !turn.isOver { active = turn }
    return turn
  }

  func begin(_ event: TurnEvent) -> FoldedTurn {
    var record = TurnRecord(
      origin, id: event.turn, thread: id, state: .running, time: event.time)
    record.started = event.time
    let turn = add(record)
    book.mark(turn)
    return turn
  }

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

  /// `endsTexts`: whether its texts are whole by that; where messages end alone only thoughts are.
  func end(
    _ turn: FoldedTurn, _ state: TurnRecord.State, _ event: TurnEvent, endsTexts: Bool = true
  ) {
    // What was told as an end stays one.
    if turn.isEnded, turn.record.state != state {
      turn.apart = (state, event.time)
    } else {
      turn.record.state = state
      turn.record.ended = turn.apart == nil ? turn.record.ended ?? event.time : event.time
      turn.apart = nil
    }
    turn.record.time = event.time ?? turn.record.time
    turn.isThinking = false
    if active === turn { active = nil }
    if held === turn { held = nil }
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

  func message(_ id: String) -> FoldedMessage? { messagesByID[id] }

  func keep(_ message: FoldedMessage) {
    messagesByID[message.stateID] = message
    if book.keepsAll { messages.append(message) }
    if let id = message.record.turn, let turn = turnsByID[id] { turn.messages.append(message) }
  }

  func rename(_ message: FoldedMessage, _ id: String) {
    messagesByID[message.stateID] = nil
    (message.record.id, message.stateID) = (id, id)
    messagesByID[id] = message
  }

  func drop(_ message: FoldedMessage) {
    forget(message)
    if book.keepsAll { messages.removeAll { $0 === message } }
    if let id = message.record.turn { turnsByID[id]?.messages.removeAll { $0 === message } }
  }

  func forget(_ message: FoldedMessage) {
    let id = message.stateID
    if messagesByID[id] === message { messagesByID[id] = nil }
  }

  // MARK: - Calls

  func call(_ id: String, in turn: FoldedTurn?) -> FoldedCall? {
    guard let newest = calls[id] else { return nil }
    guard let turn, newest.turn !== turn, ambiguous.contains(id) else { return newest }
    return turn.calls.first { $0.id == id } ?? newest
  }

  func keep(_ call: FoldedCall) {
    if let turn = call.turn {
      turn.calls.append(call)
      if !book.keepsAll, turn.calls.count > Self.mostCalls { forgetCalls(of: turn) }
    }
    if let other = calls[call.id] {
      ambiguous.insert(call.id)
      if let newer = other.turn?.order, newer > call.turn?.order ?? -1 { return }
    }
    calls[call.id] = call
  }

  /// Forgets the first calls of a turn that uses tools without end.
  private func forgetCalls(of turn: FoldedTurn) {
    let count = turn.calls.count / 4
    for call in turn.calls.prefix(count) {
      forget(call)
      if call.isEnded { book.noteGone(.toolCall, origin, call.id) }
    }
    turn.calls.removeFirst(count)
  }

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

extension ThreadFold {
  func set(_ event: TurnEvent) {
    switch event.change {
    case .setThread(let record): book.receive(record, original: event.original)
    case .setApproval(let record): book.receive(record, original: event.original)
    case .setTurn(let record, let addsCost): set(record, addsCost, event)
    case .setMessage(let record, let text): set(record, text, event)
    case .setToolCall(let record): set(record, event)
    default: break
    }
  }

  private func going(_ event: TurnEvent, _ id: String?) -> FoldedTurn? {
    if event.turn.isEmpty { return id.flatMap { self.turn($0) } }
    if book.isGone(.turn, origin, event.turn) { return nil }
    let turn = ensure(event)
    if let turn, turn.record.state == .queued {
      turn.record.state = .running
      turn.record.started = turn.record.started ?? event.time
      book.mark(turn)
    }
    return turn
  }

  private func set(_ record: TurnRecord, _ addsCost: Bool, _ event: TurnEvent) {
    var record = record
    // An agent may choose to say nothing.
    if event.original == nil, let id = record.message, message(id) == nil { record.message = nil }
    let turn: FoldedTurn
    if let known = self.turn(record.id) {
      let wasEnded = known.isEnded
      guard known.record.merge(record, addsCost: addsCost) else { return }
      turn = known
      book.mark(turn)
      if turn.isEnded, !wasEnded {
        // What it was told with counts, and not when the line came.
        var event = event
        event.time = record.ended ?? record.time ?? event.time
        end(turn, turn.record.state, event, endsTexts: false)
      }
    } else {
      if book.isGone(.turn, origin, record.id) { return }
      turn = add(record)
      if turn.isEnded, event.original == nil { turn.record.ended = record.ended ?? record.time }
      book.mark(turn)
      if turn.isEnded { leave(turn) } else { active = turn }
    }
    if turn.record.state == .failed { turn.failure = turn.record.reason ?? "" }
    turn.answer = turn.record.message ?? turn.answer
    turn.marks.original = event.original
  }

  private func set(_ record: MessageRecord, _ text: TurnText, _ event: TurnEvent) {
    let turn = going(event, record.turn)
    let message: FoldedMessage
    var isGrowth = false
    if let known = self.message(record.id) {
      guard known.record.state.mayBecome(record.state) else { return }
      message = known
      let change = message.text.receive(record.text, text)
      var new = record
      (new.text, new.time) = ("", known.record.time)
      let isNews = known.record.merge(new) || change == .replaced
      guard isNews || change == .grown else { return }
      known.record.time = record.time ?? known.record.time
      isGrowth = !isNews
    } else {
      if text == .unchanged || book.isGone(.message, origin, record.id) { return }
      if let id = record.turn, turn == nil, book.isGone(.turn, origin, id) { return }
      message = FoldedMessage(record)
      keep(message)
    }
    book.mark(message, isGrowth: isGrowth)
    message.marks.original = event.original
    think(message, turn)
    if message.isEnded, turn == nil { leave(message) }
  }

  /// What is thought stands in the turn, too.
  private func think(_ message: FoldedMessage, _ turn: FoldedTurn?) {
    guard book.keepsAll, let turn, message.record.role == .thinking else { return }
    turn.thinking.set(message.text.text)
    turn.isThinking = !turn.isOver && !message.isEnded
  }

  private func set(_ record: ToolCallRecord, _ event: TurnEvent) {
    let turn = going(event, record.turn)
    let call: FoldedCall
    var isNews = true
    if let known = self.call(record.id, in: turn) {
      guard known.record.state.mayBecome(record.state) else { return }
      call = known
      let time = known.record.time
      var new = record
      (new.stdout, new.stderr, new.time) = (nil, nil, time)
      isNews = known.record.merge(new)
      known.record.time = record.time ?? time
    } else {
      if book.isGone(.toolCall, origin, record.id) { return }
      if let id = record.turn, turn == nil, book.isGone(.turn, origin, id) { return }
      var bare = record
      (bare.stdout, bare.stderr) = (nil, nil)
      call = FoldedCall(bare, turn: turn)
      keep(call)
      if let turn { turn.firstCall = turn.firstCall ?? record.started ?? record.time }
    }
    call.state = call.record.state
    let hasPrinted = print(record, call)
    guard isNews || hasPrinted != nil else { return }
    if let arguments = record.arguments { call.preview = Self.preview(arguments, call.record.tool) }
    book.mark(call, isGrowth: !isNews && hasPrinted == true)
    call.marks.original = event.original
    if call.isEnded, turn == nil {
      book.leave(call, .toolCall, origin, call.id) { [self] in forget(call) }
    }
  }

  /// Whether what the call printed only grew; nil when nothing is new.
  private func print(_ record: ToolCallRecord, _ call: FoldedCall) -> Bool? {
    let hasRun =
      record.stdout != nil || record.stderr != nil || record.exitCode != nil
      || record.started != nil || record.state == .running
    guard hasRun || !call.executions.isEmpty else { return nil }
    if call.executions.isEmpty { call.executions.append(FoldedExecution(call.id)) }
    let run = call.executions[call.executions.count - 1]
    run.isRunning = call.state == .running
    run.exitCode = record.exitCode ?? run.exitCode
    run.milliseconds = record.milliseconds ?? run.milliseconds
    run.isTruncated = record.isTruncated ?? run.isTruncated
    var onlyGrew: Bool?
    for (text, whole) in [(run.stdout, record.stdout), (run.stderr, record.stderr)] {
      guard let whole else { continue }
      let isFirst = text.count == 0
      switch text.receive(whole, .whole) {
      case nil: break
      case .grown?: onlyGrew = (onlyGrew ?? true) && !isFirst
      case .replaced?: onlyGrew = false
      }
    }
    return onlyGrew
  }
}

extension ThreadFold {
  func step(_ event: TurnEvent) {
    switch event.change {
    case .started: start(event)
    case .completed(let message, let failure): complete(event, message, failure)
    case .failed(let code, let reason): fail(event, code, reason)
    case .aborted(let reason):
      guard let turn = named(event), !turn.isOver else { return }
      turn.record.reason = reason
      end(turn, .aborted, event)
    case .paused: pause(event)
    case .resumed: resume(event)
    case .thinking(let text, let segment, let isRedacted):
      think(event, text, segment, isRedacted)
    case .text(let text, let segment): say(event, text, segment)
    case .committed(let message, let text): commit(event, message, text)
    case .planned(let call, let tool, let arguments): plan(event, call, tool, arguments)
    case .executionStarted(let execution, let call, let tool, let command):
      run(event, execution, call, tool, command)
    case .output(let execution, let isError, let output): print(event, execution, isError, output)
    case .executionFinished(let execution, let end): finish(event, execution, end)
    case .proposed(let approval): propose(event, approval)
    case .decided(let approval, let state, let reason): decide(event, approval, state, reason)
    case .nothing, .setThread, .setMessage, .setTurn, .setToolCall, .setApproval: break
    }
  }

  // MARK: - Turns

  private func start(_ event: TurnEvent) {
    if event.turn.isEmpty { return }
    guard let turn = turn(event.turn) else {
      // One turn at a time: the one before does not go on.
      if let held { settle(held, event) }
      active = begin(event)
      return
    }
    guard let time = event.time, turn.record.started.map({ time < $0 }) ?? true else { return }
    turn.record.started = time
    book.mark(turn)
  }

  private func complete(_ event: TurnEvent, _ message: String?, _ failure: String?) {
    guard let turn = named(event) else { return }
    if turn.isHeld, turn.openActions.isEmpty { return settle(turn, event) }
    if turn.isOver { return }
    if let message, !message.isEmpty { turn.record.message = message }
    turn.record.reason = failure
    guard turn.openActions.isEmpty || turn.isEnded else {
      turn.apart = (.completed, event.time)
      turn.isThinking = false
      if active === turn { active = nil }
      held = turn
      return
    }
    end(turn, failure == nil ? .completed : .failed, event)
    // The events call it complete.
    if failure != nil { turn.apart = (.completed, event.time) }
  }

  /// An end that came too early was the end after all.
  private func settle(_ turn: FoldedTurn, _ event: TurnEvent) {
    var event = event
    let ended = turn.apart?.ended
    event.time = ended ?? event.time
    end(turn, turn.record.reason == nil ? .completed : .failed, event)
    if turn.record.state == .failed { turn.apart = (.completed, ended) }
  }

  private func fail(_ event: TurnEvent, _ code: String, _ reason: String) {
    let words = [code, reason].filter { !$0.isEmpty }
    if book.keepsAll {
      let text =
        words.isEmpty
        ? "Turn failed."
        : "Turn failed" + (code.isEmpty ? "" : " (\(code))") + (reason.isEmpty ? "" : ": \(reason)")
      note(event, "stream_turn_failed_\(event.id)", text)
    }
    guard let turn = named(event), !turn.isOver else { return }
    turn.failure = reason
    turn.record.reason = words.isEmpty ? nil : words.joined(separator: ": ")
    for call in turn.calls where !call.state.isEnd {
      call.state = .failed
      if call.isEnded { continue }
      call.record.state = .failed
      call.record.ended = event.time
      call.record.time = event.time ?? call.record.time
      book.mark(call)
    }
    end(turn, .failed, event)
  }

  private func pause(_ event: TurnEvent) {
    guard let turn = named(event), !turn.isOver else { return }
    turn.isThinking = false
    become(.paused, turn, event)
  }

  private func resume(_ event: TurnEvent) {
    let key = event.turn.isEmpty ? active?.id ?? "global" : event.turn
    // The next text is a message of its own, unless nothing was committed.
    drafts[key] = nil
    guard let turn = ensure(event) else { return }
    if turn.isOver {
      guard turn.state == .completed else { return }
      turn.apart = nil
      turn.record.reason = nil
      active = turn
      if held === turn { held = nil }
    }
    become(.running, turn, event)
  }

  private func become(_ state: TurnRecord.State, _ turn: FoldedTurn, _ event: TurnEvent) {
    if turn.isEnded {
      turn.apart = (state, nil)
      return
    }
    if turn.record.state == state { return }
    turn.record.state = state
    turn.record.time = event.time ?? turn.record.time
    book.mark(turn)
  }

  // MARK: - Texts

  private func think(_ event: TurnEvent, _ text: String, _ segment: String, _ isRedacted: Bool) {
    let turn = ensure(event)
    let piece = text.isEmpty && isRedacted ? "..." : text
    if !piece.isEmpty {
      let key = Self.key(event, segment)
      grow(thoughts[key] ?? thought(key, event, turn), piece, event)
    }
    guard let turn, book.keepsAll else { return }
    turn.thinking.append(text)
    turn.isThinking = !turn.isOver
  }

  private func say(_ event: TurnEvent, _ text: String, _ segment: String) {
    if text.isEmpty { return }
    let key = Self.key(event, segment)
    grow(drafts[key] ?? answer(key, event), text, event)
  }

  private func thought(_ key: String, _ event: TurnEvent, _ turn: FoldedTurn?) -> FoldedMessage {
    let message = draft("stream_thinking_\(key)", .thinking, event, turn ?? named(event))
    thoughts[key] = message
    return message
  }

  private func answer(_ key: String, _ event: TurnEvent) -> FoldedMessage {
    let message = draft("stream_assistant_\(key)", .assistant, event, named(event))
    if message.stateID == message.record.id, let count = withdrawn[key] {
      message.record.id += "_\(count + 1)"
    }
    drafts[key] = message
    return message
  }

  private static func key(_ event: TurnEvent, _ segment: String) -> String {
    if !event.turn.isEmpty { return event.turn }
    return segment.isEmpty ? "global" : segment
  }

  private func draft(
    _ id: String, _ role: MessageRecord.Role, _ event: TurnEvent, _ turn: FoldedTurn?
  ) -> FoldedMessage {
    if let known = message(id) { return known }
    let message = FoldedMessage(newMessage(id, role, "", .partial, event, turn))
    if let turn, turn.isOver { message.record.state = .final }
    keep(message)
    return message
  }

  private func newMessage(
    _ id: String, _ role: MessageRecord.Role, _ text: String, _ state: MessageRecord.State,
    _ event: TurnEvent, _ turn: FoldedTurn?
  ) -> MessageRecord {
    return MessageRecord(
      origin, id: id, thread: self.id, turn: turn?.id ?? (event.turn.isEmpty ? nil : event.turn),
      role: role, text: text, state: state, time: event.time)
  }

  private func grow(_ message: FoldedMessage, _ piece: String, _ event: TurnEvent) {
    message.text.append(piece)
    message.record.time = event.time ?? message.record.time
    if message.isRecord { book.mark(message, isGrowth: message.marks.toldSize != nil) }
  }

  private func commit(_ event: TurnEvent, _ id: String, _ text: String) {
    let key = event.turn.isEmpty ? "global" : event.turn
    let turn = named(event)
    let message: FoldedMessage
    if let draft = drafts[key] ?? self.message("stream_assistant_\(key)") {
      message = draft
      if !id.isEmpty, draft.record.id != id {
        withdraw(draft, event, key, "replaced by \(id)")
        if let other = self.message(id), other !== draft { drop(other, event, for: id) }
        rename(draft, id)
      }
    } else if let known = self.message(id) {
      message = known
    } else {
      if id.isEmpty { return }
      message = FoldedMessage(newMessage(id, .assistant, "", .final, event, turn))
      keep(message)
    }
    drafts[key] = message
    if !text.isEmpty { message.text.set(text) }
    message.record.state = .final
    message.record.time = event.time ?? message.record.time
    book.mark(message)
    if turn == nil { leave(message) }
    guard let turn, !id.isEmpty else { return }
    turn.answer = id
    if turn.record.message != id {
      turn.record.message = id
      turn.record.time = event.time ?? turn.record.time
      book.mark(turn)
    }
  }

  func leave(_ message: FoldedMessage) {
    book.leave(message, .message, origin, message.record.id) { [self] in
      forget(message)
    }
  }

  /// A draft that was told under another id in the state is taken back.
  private func drop(_ message: FoldedMessage, _ event: TurnEvent, for id: String) {
    let key = message.record.turn ?? "global"
    if message.record.id != id { withdraw(message, event, key, "replaced by \(id)") }
    if drafts[key] === message { drafts[key] = nil }
    drop(message)
  }

  /// Says of the id that a draft had that nothing more is to be heard of it.
  private func withdraw(
    _ draft: FoldedMessage, _ event: TurnEvent, _ key: String, _ reason: String
  ) {
    let told = draft.marks
    draft.marks.beginAnew()
    if draft.isEnded || !draft.isRecord { return }
    withdrawn[key, default: 0] += 1
    let old = FoldedMessage(draft.record)
    old.text.set(draft.text.text)
    old.record.state = .aborted
    old.record.reason = reason
    old.record.time = event.time
    book.mark(old)
    old.marks.isWithdrawal = true
    old.marks.inherit(told)
  }

  @discardableResult
  func note(
    _ event: TurnEvent, _ id: String, _ text: String, as role: MessageRecord.Role = .system
  ) -> FoldedMessage {
    if let known = message(id) {
      known.text.set(text)
      return known
    }
    let message = FoldedMessage(
      newMessage(id, role, text, .final, event, nil), isRecord: false)
    keep(message)
    return message
  }
}

extension ThreadFold {
  func plan(_ event: TurnEvent, _ id: String, _ tool: String, _ arguments: [UInt8]?) {
    guard let turn = ensure(event), !id.isEmpty else { return }
    turn.firstCall = turn.firstCall ?? event.time
    let call: FoldedCall
    if let known = self.call(id, in: turn), known.turn === turn {
      guard known.state == .planned, known.executions.isEmpty else { return }
      call = known
      call.record.approval = nil
    } else {
      let record = ToolCallRecord(
        origin, id: id, thread: self.id, tool: tool, state: .planned, time: event.time)
      call = FoldedCall(record, turn: turn)
      call.record.turn = turn.id
      keep(call)
    }
    call.record.tool = tool
    call.record.label = tool
    call.record.arguments = arguments
    call.record.time = event.time ?? call.record.time
    call.preview = Self.preview(arguments, tool)
    book.mark(call)
  }

  /// What a call was made with, for people: its first text that is not blank, by the names of
  /// the members; nil where there is nothing.
  static func preview(_ arguments: [UInt8]?, _ tool: String) -> String? {
    guard let value = arguments.flatMap({ JSONValue($0) }), value.count > 0 else { return nil }
    let texts = value.members.sorted { $0.name < $1.name }.compactMap(\.value.string)
    return texts.first { !$0.trimmed.isEmpty } ?? tool
  }

  func run(
    _ event: TurnEvent, _ execution: String, _ id: String, _ tool: String, _ command: String
  ) {
    let call = self.call(id, in: named(event))
    let name = execution.isEmpty ? event.id : execution
    if let call, call.executions.contains(where: { $0.id == execution }) { return }
    if book.keepsAll {
      let line = "$ \(command.isEmpty ? tool : command)\n"
      note(event, "stream_tool_\(name)", line, as: .tool)
    }
    guard let call else {
      executions[execution] = AttachedExecution(nil, nil)
      return
    }
    // The end of one before it was lost in a restart.
    for earlier in call.executions { earlier.isRunning = false }
    let run = FoldedExecution(execution)
    call.executions.append(run)
    executions[execution] = AttachedExecution(call, run)
    if call.state != .rejected { move(call, .running, event) }
    if !command.isEmpty { call.record.label = command }
    call.record.started = call.record.started ?? event.time
    call.record.exitCode = nil
    call.record.milliseconds = nil
    book.mark(call)
  }

  func print(_ event: TurnEvent, _ id: String, _ isError: Bool, _ output: TurnOutput) {
    let attached = executions[id]
    let text: String
    switch output {
    case .text(let bytes):
      if attached == nil, !book.keepsAll { return }
      let decoding = attached ?? AttachedExecution(nil, nil)
      executions[id] = decoding
      text = isError ? decoding.stderr.decode(bytes) : decoding.stdout.decode(bytes)
    case .binary(let count): text = "[binary output: \(count) bytes]"
    }
    if book.keepsAll { toolText(id, event).append(text) }
    if let attached { add(text, attached, isError, event) }
  }

  private func add(
    _ text: String, _ attached: AttachedExecution, _ isError: Bool, _ event: TurnEvent
  ) {
    guard let call = attached.call, let run = attached.execution, !text.isEmpty else { return }
    let stream = isError ? run.stderr : run.stdout
    let isFirst = stream.count == 0
    stream.append(text)
    guard run === call.executions.last else { return }
    call.record.time = event.time ?? call.record.time
    book.mark(call, isGrowth: !isFirst)
  }

  func finish(_ event: TurnEvent, _ id: String, _ end: TurnExecutionEnd) {
    let attached = executions[id]
    let rest = [attached?.stdout.finish() ?? "", attached?.stderr.finish() ?? ""]
    if book.keepsAll {
      let text = toolText(id, event)
      for piece in rest { text.append(piece) }
      text.beginLine()
      let how = end.isTimedOut ? "timed out" : "exit \(end.exitCode)"
      text.append("result: \(how) (\(end.milliseconds)ms)")
      if end.isTruncated { text.append("\nresult: output truncated") }
    }
    guard let attached, let call = attached.call, let run = attached.execution else {
      if !book.keepsAll { executions[id] = nil }
      return
    }
    for (piece, isError) in zip(rest, [false, true]) { add(piece, attached, isError, event) }
    run.exitCode = end.exitCode
    run.milliseconds = end.milliseconds
    run.isTruncated = end.isTruncated
    run.isTimedOut = end.isTimedOut
    run.isRunning = false
    if call.state != .rejected {
      move(call, end.exitCode == 0 && !end.isTimedOut ? .succeeded : .failed, event)
    }
    guard run === call.executions.last else { return }
    call.record.exitCode = end.exitCode
    call.record.milliseconds = end.milliseconds
    call.record.isTruncated = end.isTruncated ? true : nil
    if end.isTimedOut, call.record.state == .failed { call.record.reason = "timed out" }
    call.record.ended = event.time ?? call.record.ended
    call.record.time = event.time ?? call.record.time
    book.mark(call)
  }

  /// Brings a call into a state. A record that is over stays over.
  private func move(_ call: FoldedCall, _ state: ToolCallRecord.State, _ event: TurnEvent) {
    call.state = state
    if call.record.state.mayBecome(state) { call.record.state = state }
    call.record.time = event.time ?? call.record.time
  }

  private func toolText(_ execution: String, _ event: TurnEvent) -> GrowingText {
    let id = "stream_tool_\(execution.isEmpty ? event.id : execution)"
    return (message(id) ?? note(event, id, "", as: .tool)).text
  }

  // MARK: - Approvals

  func propose(_ event: TurnEvent, _ approval: ApprovalRecord) {
    var approval = approval
    // What it is found by again; a decoder knows no profile.
    (approval.origin, approval.thread) = (origin, id)
    if let turn = ensure(event) {
      approval.turn = turn.id
      turn.openActions.insert(approval.id)
      let calls = turn.calls
      if let call = calls.first(where: { $0.id == approval.id })
        ?? calls.first(where: { $0.record.tool == approval.tool && $0.record.approval == nil })
      {
        approval.toolCall = call.id
        asked[approval.id] = call
        call.record.approval = approval.id
        if let summary = approval.summary.map(\.trimmed), !summary.isEmpty {
          call.preview = summary
        }
        if call.state == .planned { move(call, .waitingApproval, event) }
        book.mark(call)
      }
    }
    book.receive(approval)
  }

  func decide(_ event: TurnEvent, _ id: String, _ state: ApprovalRecord.State, _ reason: String) {
    let isRejected = state == .rejected || state == .expired
    if book.keepsAll, isRejected || state == .approved {
      let why = reason.isEmpty || !isRejected ? "" : " (\(reason))"
      let text = "Action \(id) \(isRejected ? "rejected" : "approved")\(why)."
      note(event, "stream_status_\(event.id)", text)
    }
    if let call = asked[id] {
      if state == .approved, call.state == .waitingApproval {
        move(call, .planned, event)
        book.mark(call)
      } else if isRejected, call.state == .waitingApproval || call.state == .planned {
        move(call, .rejected, event)
        call.record.reason = reason.isEmpty ? nil : reason
        call.record.ended = event.time
        book.mark(call)
      } else if state == .executed {
        for run in call.executions { run.isRunning = false }
        if call.executions.isEmpty, call.state == .waitingApproval || call.state == .planned {
          move(call, .succeeded, event)
          call.record.ended = event.time
          book.mark(call)
        }
      }
    }
    // A proposal may be lost; an action has the id of its call.
    if let turn = asked[id]?.turn ?? call(id, in: nil)?.turn ?? held ?? active {
      if state == .approved { turn.openActions.insert(id) }
      if state.isEnd { turn.openActions.remove(id) }
    }
    guard var record = book.approval(origin, id)?.record else { return }
    record.state = state
    record.reason = reason.isEmpty ? nil : reason
    record.decision =
      switch state {
      case .approved: record.decisions.first
      case .rejected: record.decisions.dropFirst().first
      default: nil
      }
    record.time = event.time
    book.receive(record)
  }
}

/// Decodes UTF-8 that is cut anywhere; what is ill-formed becomes U+FFFD.
struct TextDecoder {
  /// The beginning of a character that the last piece ended in: three bytes at most.
  private var started: [UInt8] = []

  /// The text of the next piece, but for an unfinished character at its end.
  mutating func decode(_ piece: [UInt8]) -> String {
    if started.isEmpty, piece.last ?? 0 < 0x80 { return String(decoding: piece, as: UTF8.self) }
    var bytes = started + piece
    let whole = bytes.count - Self.unfinished(bytes)
    started = Array(bytes[whole...])
    bytes.removeSubrange(whole...)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What an unfinished character at the end of all is shown as; empty for none.
  mutating func finish() -> String {
    defer { started = [] }
    return started.isEmpty ? "" : "\u{fffd}"
  }

  /// How many bytes at the end begin a character that more bytes can finish.
  private static func unfinished(_ bytes: [UInt8]) -> Int {
    for count in 1...3 where count <= bytes.count {
      let first = bytes[bytes.count - count]
      if first & 0xc0 == 0x80 { continue }
      let start = Array(bytes.suffix(count))
      var pieces = UTF8Pieces()
      let isGood = start.withUnsafeBytes { pieces.receive($0) }
      return isGood && !pieces.isWhole ? count : 0
    }
    return 0
  }
}

/// The ids of events that came, by hashes of 64 bits with a key of this process: what one
/// cannot aim at does not collide among a few thousand.
package struct SeenIDs {
  private var hashes: Set<Int> = []

  package init() {}

  /// The ids that are remembered.
  var count: Int { hashes.count }

  /// Remembers an id.
  ///
  /// - Returns: whether it is new.
  package mutating func insert(_ id: String) -> Bool { hashes.insert(id.hashValue).inserted }

  mutating func forgetAll(but id: String) { hashes = [id.hashValue] }
}

/// The last one asked for is asked for again, as a rule.
struct TextPlaces {
  private var messages: [String: FoldedMessage] = [:]
  private var last: (key: String, message: FoldedMessage)?

  subscript(key: String) -> FoldedMessage? {
    mutating get {
      if let last, last.key == key { return last.message }
      guard let message = messages[key] else { return nil }
      last = (key, message)
      return message
    }
    set {
      last = nil
      messages[key] = newValue
    }
  }
}
