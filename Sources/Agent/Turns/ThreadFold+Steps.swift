import Core
import Records

/// What the steps of turns and texts do.
extension ThreadFold {
  func step(_ event: TurnEvent) {
    switch event.change {
    case .started: start(event)
    case .completed(let message): complete(event, message)
    case .failed(let code, let reason): fail(event, code, reason)
    case .aborted(let reason):
      guard let turn = named(event), !turn.isEnded else { return }
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
      active = begin(event)
      return
    }
    guard let time = event.time, turn.record.started.map({ time < $0 }) ?? true else { return }
    turn.record.started = time
    book.mark(turn)
  }

  private func complete(_ event: TurnEvent, _ message: String?) {
    guard let turn = named(event), !turn.isEnded else { return }
    if let message, !message.isEmpty { turn.record.message = message }
    turn.record.reason = nil
    end(turn, .completed, event)
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
    guard let turn = named(event), !turn.isEnded else { return }
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
    guard let turn = named(event), !turn.isEnded else { return }
    turn.isThinking = false
    become(.paused, turn, event)
  }

  private func resume(_ event: TurnEvent) {
    let key = event.turn.isEmpty ? active?.id ?? "global" : event.turn
    // The next text is a message of its own, unless nothing was committed.
    drafts[key] = nil
    guard let turn = ensure(event), !turn.isEnded else { return }
    become(.running, turn, event)
  }

  private func become(_ state: TurnRecord.State, _ turn: FoldedTurn, _ event: TurnEvent) {
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
    turn.isThinking = !turn.isEnded
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

  /// By what the pieces of a text are told apart.
  private static func key(_ event: TurnEvent, _ segment: String) -> String {
    if !event.turn.isEmpty { return event.turn }
    return segment.isEmpty ? "global" : segment
  }

  private func draft(
    _ id: String, _ role: MessageRecord.Role, _ event: TurnEvent, _ turn: FoldedTurn?
  ) -> FoldedMessage {
    if let known = message(id) { return known }
    let message = FoldedMessage(newMessage(id, role, "", .partial, event, turn))
    if let turn, turn.isEnded { message.record.state = .final }
    keep(message)
    return message
  }

  private func newMessage(
    _ id: String, _ role: MessageRecord.Role, _ text: String, _ state: MessageRecord.State,
    _ event: TurnEvent, _ turn: FoldedTurn?
  ) -> MessageRecord {
    var record = MessageRecord(
      origin, id: id, thread: self.id, role: role, text: text, state: state, time: event.time)
    record.turn = turn?.id ?? (event.turn.isEmpty ? nil : event.turn)
    return record
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

  /// A message that belongs to no turn and is over may be forgotten.
  func leave(_ message: FoldedMessage) {
    book.leave(message, .message, origin, message.record.id) { [self] in
      forget(message)
    }
  }

  /// Drops a message whose id in the state another one is given: a draft that was told under
  /// another id is taken back.
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

  /// A line of the state that is no record.
  func note(_ event: TurnEvent, _ id: String, _ text: String) {
    if let known = message(id) { return known.text.set(text) }
    let record = newMessage(id, .system, text, .final, event, nil)
    keep(FoldedMessage(record, isRecord: false))
  }
}
