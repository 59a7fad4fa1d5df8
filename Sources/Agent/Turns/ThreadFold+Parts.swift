import Core
import Records

/// What parts of records do, and whole ones.
extension ThreadFold {
  func set(_ event: TurnEvent) {
    switch event.change {
    case .setThread(let record): book.take(record, original: event.original)
    case .setApproval(let record): book.take(record, original: event.original)
    case .setTurn(let record, let addsCost): set(record, addsCost, event)
    case .setMessage(let record, let text): set(record, text, event)
    case .setToolCall(let record): set(record, event)
    default: break
    }
  }

  /// The turn that a part of a record says goes on.
  private func going(_ event: TurnEvent, _ id: String?) -> FoldedTurn? {
    if event.turn.isEmpty { return id.flatMap { self.turn($0) } }
    if book.isGone(.turn, origin, event.turn) { return nil }
    let turn = ensure(event)
    if let turn, turn.record.state == .queued {
      turn.record.state = .running
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
      let change = message.text.take(record.text, text)
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
    turn.isThinking = !turn.isEnded && !message.isEnded
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

  /// Takes what a call printed so far.
  ///
  /// - Returns: whether what was known only grew; nil when nothing is new.
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
      switch text.take(whole, .whole) {
      case nil: break
      case .grown?: onlyGrew = (onlyGrew ?? true) && !isFirst
      case .replaced?: onlyGrew = false
      }
    }
    return onlyGrew
  }
}
