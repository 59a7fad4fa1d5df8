import Core
import Records

/// What the steps of tools and approvals do.
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
    guard let arguments,
      let value = arguments.withUnsafeBytes({ try? JSONValue.parse($0) }), value.count > 0
    else { return nil }
    let texts = value.members.sorted { $0.name < $1.name }.compactMap(\.value.string)
    return texts.first { !TurnWords.isBlank($0) } ?? tool
  }

  func run(
    _ event: TurnEvent, _ execution: String, _ id: String, _ tool: String, _ command: String
  ) {
    let call = self.call(id, in: named(event))
    let name = execution.isEmpty ? event.id : execution
    if let call, call.executions.contains(where: { $0.id == execution }) { return }
    if book.keepsAll {
      let line = "$ \(command.isEmpty ? tool : command)\n"
      if let known = message("stream_tool_\(name)") {
        known.text.set(line)
      } else {
        _ = toolMessage(name, event, line)
      }
    }
    guard let call else {
      executions[execution] = AttachedExecution(nil, nil)
      return
    }
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
    let name = execution.isEmpty ? event.id : execution
    return (message("stream_tool_\(name)") ?? toolMessage(name, event, "")).text
  }

  private func toolMessage(_ name: String, _ event: TurnEvent, _ text: String) -> FoldedMessage {
    let message = FoldedMessage(
      MessageRecord(
        origin, id: "stream_tool_\(name)", thread: id, role: .tool, text: text, state: .final,
        time: event.time), isRecord: false)
    keep(message)
    return message
  }

  // MARK: - Approvals

  func propose(_ event: TurnEvent, _ approval: ApprovalRecord) {
    var approval = approval
    // What it is found by again; a decoder knows no profile.
    (approval.origin, approval.thread) = (origin, id)
    if let turn = ensure(event) {
      approval.turn = turn.id
      let calls = turn.calls
      if let call = calls.first(where: { $0.id == approval.id })
        ?? calls.first(where: { $0.record.tool == approval.tool && $0.record.approval == nil })
      {
        approval.toolCall = call.id
        asked[approval.id] = call
        call.record.approval = approval.id
        if let summary = approval.summary.map(TurnWords.trimmed), !summary.isEmpty {
          call.preview = summary
        }
        if call.state == .planned { move(call, .waitingApproval, event) }
        book.mark(call)
      }
    }
    book.take(approval)
  }

  func decide(
    _ event: TurnEvent, _ id: String, _ state: ApprovalRecord.State, _ reason: String
  ) {
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
      }
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
    book.take(record)
  }
}

/// Words as the contract has them.
enum TurnWords {
  /// Without white space at its ends.
  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// Whether there is nothing but white space.
  static func isBlank(_ text: String) -> Bool { trimmed(text).isEmpty }
}
