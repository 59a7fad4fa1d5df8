import Core
import Records

/// What a reply command says of its work: the tools and thoughts of a run, as events of the
/// gateway (Agent/OpenClaw/CONTRACT.md 7). Nothing of it is kept.
extension Gateway {
  /// Takes lines of descriptor 3.
  func take(_ lines: [NoteLines.Line], of run: Run) {
    for line in lines {
      run.notes.lines += 1
      do throws(ReplyNote.Fault) {
        switch line {
        case .text(let bytes) where bytes.allSatisfy { $0 == 32 || $0 == 9 || $0 == 13 }: break
        case .text(let bytes): try take(ReplyNote(bytes), of: run)
        case .tooLong: throw .init(reason: "longer than \(NoteLines.longest) bytes")
        case .tooMuch:
          throw .init(reason: "more than \(NoteLines.most) bytes; the rest is not read")
        }
      } catch {
        complain(error.reason, of: run)
      }
    }
  }

  /// The command has ended: what it left open is over.
  func endNotes(of run: Run) {
    for (id, name) in run.notes.names.sorted(by: { $0.key < $1.key }) {
      emitTool(
        run, id,
        ["phase": "result", "name": .text(name), "isError": true, "meta": "its end was not told"])
    }
    run.notes.names = [:]
    run.notes.faults?.finish()
  }

  private func complain(_ reason: String, of run: Run) {
    var faults = run.notes.faults ?? FaultLog(diagnostics)
    faults.line("reply command: descriptor 3", run.notes.lines, reason)
    run.notes.faults = faults
  }

  private func take(_ note: ReplyNote, of run: Run) throws(ReplyNote.Fault) {
    switch note {
    case .tool(let tool): try take(tool, of: run)
    case .usage(let usage): run.notes.usage = usage
    case .thinking(let text):
      let before = run.notes.thought
      run.notes.thought = text
      let delta = text.utf8.starts(with: before.utf8) ? text.dropFirst(before.count) : text[...]
      emit(run, "thinking", ["text": .text(text), "delta": .text(String(delta))])
    }
  }

  private func take(_ tool: ReplyNote.Tool, of run: Run) throws(ReplyNote.Fault) {
    let isOver = run.notes.calls[tool.id]
    if isOver == true { throw .init(reason: "that call is over") }
    let name = JSONNode.text(tool.name)
    if isOver == nil {
      if run.notes.calls.count >= RunNotes.mostCalls {
        throw .init(reason: "more than \(RunNotes.mostCalls) calls")
      }
      // What was said before it is seen before it.
      flush(run)
      emitTool(run, tool.id, ["phase": "start", "name": name, "args": tool.arguments])
    }
    run.notes.calls[tool.id] = tool.state.isEnd
    run.notes.names[tool.id] = tool.state.isEnd ? nil : tool.name
    let printed: JSONNode =
      tool.output.map { ["content": [["type": "text", "text": .text($0)]]] } ?? .object([])
    guard tool.state.isEnd else {
      guard tool.output != nil else { return }
      return emitTool(run, tool.id, ["phase": "update", "name": name, "partialResult": printed])
    }
    let details: JSONNode =
      tool.exitCode == nil && tool.milliseconds == nil
      ? .absent : ["exitCode": .number(tool.exitCode), "durationMs": .number(tool.milliseconds)]
    emitTool(
      run, tool.id,
      [
        "phase": "result", "name": name, "isError": .bool(tool.state != .succeeded),
        "meta": .text(tool.label), "result": printed.adding(["details": details]),
      ])
  }

  /// - Parameter id: the reply command's, which need not know those of other runs.
  private func emitTool(_ run: Run, _ id: String, _ data: JSONNode) {
    emit(run, "tool", data.adding(["toolCallId": .text("\(run.id)/\(id)")]))
  }
}
