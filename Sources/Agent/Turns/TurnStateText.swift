import Core
import Records

extension TurnFold {
  /// What is known of each thread, in the order in which they came: records `turn_state` of
  /// agentutils-records(5), each a line without its LF. Only where all is kept.
  public var states: [[UInt8]] { order.map(\.state.bytes) }
}

extension ThreadFold {
  /// The state, in the members of Agent/Pincer/CONTRACT.md 6.
  fileprivate var state: RecordText {
    RecordText(.turnState).string("backend", origin.backend.rawValue)
      .string("profile", origin.profile).string("thread", id.isEmpty ? nil : id)
      .number("last_sequence", lastSequence).stringOrNull("active_turn", active?.id)
      .objects("turns", turns.map(\.stateText)).objects("messages", messages.map(\.state))
      .list("gaps", gaps.map { Array("[\($0.from),\($0.to)]".utf8) })
  }
}

extension FoldedTurn {
  fileprivate var stateText: RecordText {
    RecordText().string("id", id).string("status", state.rawValue)
      .stringOrNull("failure", state == .failed ? failure : nil)
      .object("thinking", RecordText().quoted("text", thinking).bool("streaming", isThinking))
      .objects("calls", calls.map(\.stateText)).instant("started_at", record.started)
      .instant("ended_at", apart.map(\.ended) ?? record.ended)
      .instant("first_tool_call_at", firstCall)
      .stringOrNull("assistant_message_id", answer)
  }
}

extension FoldedCall {
  fileprivate var stateText: RecordText {
    RecordText().string("id", id).string("tool", record.tool)
      .string("label", record.label ?? record.tool).stringOrNull("args_preview", preview)
      .stringOrNull("action_id", record.approval).string("state", state.rawValue)
      .stringOrNull("reason", state == .rejected ? record.reason : nil)
      .objects("executions", executions.map(\.state))
  }
}

extension FoldedExecution {
  fileprivate var state: RecordText {
    RecordText().string("id", id).quoted("stdout", stdout).quoted("stderr", stderr)
      .json("exit_code", exitCode.map { String($0) } ?? "null")
      .json("duration_ms", milliseconds.map { String($0) } ?? "null")
      .bool("streaming", isRunning).bool("truncated", isTruncated).bool("timed_out", isTimedOut)
  }
}

extension FoldedMessage {
  fileprivate var state: RecordText {
    RecordText().string("id", stateID).string("thread_id", record.thread)
      .string("role", record.role.rawValue).quoted("content", text)
      .instant("created_at", created)
  }
}

extension RecordText {
  fileprivate consuming func quoted(_ name: String, _ text: GrowingText) -> RecordText {
    string(name, text.text)
  }

  /// A time with as many decimals as it has, in threes; null for none.
  fileprivate consuming func instant(_ name: String, _ time: Timestamp?) -> RecordText {
    guard let time else { return json(name, "null") }
    var finer = ""
    let rest = time.nanoseconds % 1_000_000
    if rest > 0 {
      let digits = String(rest)
      finer = String(repeating: "0", count: 6 - digits.count) + digits
      if finer.hasSuffix("000") { finer.removeLast(3) }
    }
    return string(name, time.rfc3339.dropLast() + finer + "Z")
  }
}
