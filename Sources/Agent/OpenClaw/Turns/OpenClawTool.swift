package import Core
package import Records

/// What a gateway tells of tools, as records (CONTRACT.md 7).
package enum OpenClawTool {
  /// The tool by which an agent asks a person.
  static let question = "ask_user"

  /// The longest output that is kept whole, and what is kept of a longer one, bytes.
  private static let (mostOutput, keptOutput) = (1 << 20, 1 << 18)

  /// A call as it is now; nil for what is none.
  package static func record(
    _ data: JSONValue, arguments: @autoclosure () -> [UInt8]?, _ turn: TurnRecord
  ) -> ToolCallRecord? {
    guard let id = data["toolCallId"]?.string, !id.isEmpty else { return nil }
    var call = ToolCallRecord(
      turn.origin, id: id, thread: turn.thread, tool: data["name"]?.string ?? "",
      state: .running, time: turn.time)
    call.turn = turn.id
    call.label = data["meta"]?.string
    switch data["phase"]?.string {
    case "start":
      call.arguments = arguments()
      call.started = turn.time
    case "update": call.stdout = output(data["partialResult"])
    case "result", "end", "error":
      let isError = data["isError"]?.bool == true || data["phase"]?.string == "error"
      call.state = isError ? .failed : .succeeded
      call.ended = turn.time
      call.stdout = output(data["result"])
    default: return nil
    }
    return call
  }

  /// The calls in a row of a conversation, and what became of one.
  static func records(_ row: OpenClawRow, _ turn: TurnRecord) -> [ToolCallRecord] {
    var calls = row.calls.compactMap { data -> ToolCallRecord? in
      guard let id = data["id"]?.string, !id.isEmpty else { return nil }
      var call = ToolCallRecord(
        turn.origin, id: id, thread: turn.thread, tool: data["name"]?.string ?? "",
        state: .running, time: turn.time)
      call.arguments = data["arguments"].map { Array($0.compact().utf8) }
      call.started = turn.time
      return call
    }
    if let result = row.result {
      var call = ToolCallRecord(
        turn.origin, id: result.call, thread: turn.thread, tool: result.tool,
        state: result.isError ? .failed : .succeeded, time: turn.time)
      call.ended = turn.time
      call.stdout = row.text.utf8.count > mostOutput ? row.text.tail(bytes: keptOutput) : row.text
      calls.append(call)
    }
    for index in calls.indices { calls[index].turn = turn.id }
    return calls
  }

  private static func output(_ value: JSONValue?) -> String? {
    guard let value, !value.isNull else { return nil }
    let blocks = value["content"]?.elements.compactMap { $0["text"]?.string } ?? []
    let text =
      value.text ?? value["content"]?.string ?? (blocks.isEmpty ? nil : blocks.joined())
      ?? value["text"]?.string
    return text.map { $0.utf8.count > mostOutput ? $0.tail(bytes: keptOutput) : $0 }
  }
}
