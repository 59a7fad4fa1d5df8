public import Core
public import Records

/// An event that tells of turns, however it came: as a record of `agent-tail`, or as the
/// gateway's own frame, bare or as a record of `ws-tail` (CONTRACT.md 1).
package struct OpenClawFrame {
  /// What an event is about.
  package enum Kind: Sendable {
    case chat, agent
    case approval(tool: String, isOver: Bool)
    /// A row of a conversation, and rows that were fetched.
    case row, history

    var isRow: Bool { if case .row = self { true } else { false } }
  }

  let kind: Kind
  let payload: ScanValue

  private static let kinds = NameTable<Kind>([
    ("chat", .chat), ("agent", .agent), ("session.tool", .agent),
    ("session.message", .row), ("chat.history", .history),
    ("exec.approval.requested", .approval(tool: "exec", isOver: false)),
    ("exec.approval.resolved", .approval(tool: "exec", isOver: true)),
    ("plugin.approval.requested", .approval(tool: "plugin", isOver: false)),
    ("plugin.approval.resolved", .approval(tool: "plugin", isOver: true)),
    ("question.requested", .approval(tool: "question", isOver: false)),
    ("question.resolved", .approval(tool: "question", isOver: true)),
  ])

  private enum Member: Int, ScanName {
    case type, event, payload
    static let table = NameTable<Member>()
  }

  init?(_ line: TurnLine) {
    if line.isWrapped, !line.eventName.isAbsent {
      guard let kind = Self.kinds.word(line.eventName) else { return nil }
      // What is said of a conversation beside a row looks like an action.
      guard line.shape == .event || kind.isRow else { return nil }
      (self.kind, payload) = (kind, line.object)
      return
    }
    guard line.shape == .own || line.shape == .unmarked || line.isWrapped else { return nil }
    let fields = ScanFields<Member>(line.object.bytes)
    guard fields[.type].isText("event"), let kind = Self.kinds.word(fields[.event]) else {
      return nil
    }
    (self.kind, payload) = (kind, fields[.payload])
  }
}

/// The members of `chat` and `agent` payloads (CONTRACT.md 7).
enum OpenClawField: Int, ScanName {
  case runId, sessionKey, state, deltaText, replace, message, usage, stopReason, errorKind
  case errorMessage, phase, agentId, stream, data, ts, seq

  static let table = NameTable<OpenClawField>()
}

/// What the parts of a gateway's answer say, for those who follow turns and for the one who
/// asked (CONTRACT.md 7).
package enum OpenClawMessage {
  /// The text blocks of a message, joined; nil for none.
  package static func text(of message: JSONValue) -> String? {
    if let text = message.string { return text }
    guard let content = message["content"] else { return message["text"]?.string }
    if let text = content.string { return text }
    let blocks = content.elements.filter { $0["type"]?.string == "text" }
    return blocks.isEmpty ? nil : blocks.compactMap { $0["text"]?.string }.joined()
  }

  /// Sets the tokens and the US dollars of a turn; nil where they are not said.
  package static func add(usage: JSONValue, to turn: inout TurnRecord) {
    let input = usage[either: "input", "input_tokens", "inputTokens"]?.integer
    let output = usage[either: "output", "output_tokens", "outputTokens"]?.integer
    if input != nil || output != nil {
      turn.usage = TurnRecord.Usage(
        inputTokens: input.map { Int(clamping: $0) },
        outputTokens: output.map { Int(clamping: $0) })
    }
    turn.cost = usage["cost"]?["total"]?.number.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }
}

extension String {
  /// The end of the text.
  ///
  /// - Parameter most: bytes; a scalar is not cut.
  package func tail(bytes most: Int) -> String {
    guard utf8.count > most else { return self }
    var start = utf8.index(endIndex, offsetBy: -most)
    while start < endIndex, UTF8.isContinuation(utf8[start]) { start = utf8.index(after: start) }
    return String(self[start...])
  }
}

/// A row of a conversation, as the gateway keeps it (CONTRACT.md 6).
package struct OpenClawRow {
  package let role: MessageRecord.Role
  package var text: String
  package let pictures: Int
  package let time: Timestamp?
  package let id: String?
  /// What the words were sent under; nil for those of others, and of old gateways.
  package let key: String?
  /// The run that said it.
  package let run: String?
  /// The run into which the words went, where one was at work.
  package let steered: String?
  /// Whether the gateway says it to the agent by itself, to go on behind a restart.
  package let isOwn: Bool
  /// The calls of tools in it. What is said in such a row, or in another one of its id, is no part
  /// of an answer.
  package let calls: [JSONValue]
  /// What became of a call, where the row tells that.
  let result: (call: String, tool: String, isError: Bool)?
  /// Whether some of the text, or all of it, is missing.
  package var isCut: Bool
  /// How the run ended that said it, where it says so.
  package let end: TurnRecord.State?

  /// The most characters of a text that a gateway gives unasked.
  private static let usualText = 8000

  package init?(_ row: JSONValue) {
    guard let role = row["role"]?.string else { return nil }
    isOwn = row["provenance"]?["kind"]?.string == "internal_system"
    self.role = isOwn ? .system : MessageRecord.Role(rawValue: role) ?? .tool
    let blocks = row["content"]?.elements ?? []
    pictures = blocks.filter { $0["type"]?.string == "image" }.count
    calls = blocks.filter { $0["type"]?.string == "toolCall" }
    result = row["toolCallId"]?.string.map {
      ($0, row["toolName"]?.string ?? "", row["isError"]?.bool == true)
    }
    text = OpenClawMessage.text(of: row) ?? ""
    time = row["timestamp"]?.instant
    let more = row["__openclaw"]
    id = more?["id"]?.text ?? row[either: "id", "messageId"]?.text
    let key = row["idempotencyKey"]?.string
    self.key = key.map { $0.hasSuffix(":user") ? String($0.dropLast(5)) : $0 }
    run = more?["runId"]?.string
    steered = more?["steerTargetRunId"]?.string
    // An old gateway says it in the text alone.
    isCut =
      more?["truncated"]?.bool == true
      || text.hasSuffix("\n...(truncated)...") && text.utf16.count > Self.usualText
    end =
      row["openclawAbort"]?["aborted"]?.bool == true
      ? .aborted : row["stopReason"]?.string == "error" ? .failed : nil
  }

  /// Whether it says or shows anything.
  package var isHeard: Bool { !text.isEmpty || pictures > 0 }

  package var attachments: [MessageRecord.Attachment]? {
    pictures == 0 ? nil : Array(repeating: .init(mediaType: "image"), count: pictures)
  }

  /// The ids of the rows that call tools.
  package static func asides(_ rows: [OpenClawRow]) -> Set<String> {
    Set(rows.lazy.filter { !$0.calls.isEmpty }.compactMap(\.id))
  }
}

extension JSONValue {
  /// An instant that is told in milliseconds since 1970; nil for what no calendar has.
  package var instant: Timestamp? {
    guard let number, number.magnitude < 2.5e14 else { return nil }
    return Timestamp(milliseconds: Int64(number))
  }
}

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

/// What a gateway tells of approvals, as records (CONTRACT.md 8).
public enum OpenClawApproval {
  /// What may be answered where the gateway does not say.
  private static let usual = ["allow-once", "allow-always", "deny"]

  /// One that waits; nil for what is none.
  ///
  /// - Parameters:
  ///   - payload: the event's, or an element of a list.
  ///   - tool: `exec`, `plugin` or `question`.
  public static func requested(
    _ payload: JSONValue, _ raw: ScanValue, _ tool: String, _ origin: RecordOrigin
  ) -> ApprovalRecord? {
    guard let id = payload["id"]?.string, !id.isEmpty else { return nil }
    // What the gateway says of a question is the request.
    let questions = tool == AskedQuestion.tool ? AskedQuestion.all(in: payload) : nil
    let bytes = questions == nil ? try? ScanMembers.value(of: "request", in: raw.bytes) : raw
    guard let bytes, bytes.isObject, let json = bytes.json, questions?.isEmpty != true else {
      return nil
    }
    let request = questions == nil ? payload["request"] : payload
    let allowed = request?["allowedDecisions"]
    var decisions =
      allowed?.kind == .array ? allowed?.elements.compactMap(\.string) ?? [] : usual
    if let questions {
      decisions = (questions.count == 1 ? questions[0].choices.map(\.label) : []) + ["deny"]
    }
    var approval = ApprovalRecord(
      origin, id: id, tool: tool, request: json, decisions: decisions, state: .pending,
      time: payload["createdAtMs"]?.instant)
    approval.thread = request?["sessionKey"]?.string
    approval.turn = request?["runId"]?.string
    approval.toolCall = questions == nil ? request?["toolCallId"]?.string : nil
    approval.summary =
      questions?.map(\.line).joined(separator: "; ")
      ?? request?[either: "commandPreview", "title", "description"]?.string
    approval.expires = payload["expiresAtMs"]?.instant
    return approval
  }

  /// What was answered to the questions of a payload; nil where nothing was.
  public static func answers(_ payload: JSONValue?) -> String? {
    guard let answers = payload?["answers"]?["answers"], answers.isObject,
      !AskedQuestion.all(in: payload).contains(where: \.isSecret)
    else { return nil }
    return AskedQuestion.line(answers.members.map { $0.value.elements.compactMap(\.string) })
  }

  /// One that is over; its request is empty where the gateway does not repeat it.
  ///
  /// - Parameter received: when it came, for a gateway that does not say when it was.
  public static func resolved(
    _ payload: JSONValue, _ raw: ScanValue, _ tool: String, _ origin: RecordOrigin,
    _ received: Timestamp?
  ) -> ApprovalRecord? {
    guard let id = payload["id"]?.string, !id.isEmpty else { return nil }
    let decision = payload[either: "decision", "status"]?.string
    var approval =
      requested(payload, raw, tool, origin)
      ?? ApprovalRecord(
        origin, id: id, tool: tool, request: [], decisions: [], state: .pending, time: nil)
    approval.state = state(decision, by: payload["resolvedBy"])
    approval.time = payload["ts"]?.instant ?? received
    approval.by = payload["resolvedBy"]?.string
    if approval.state == .approved || approval.state == .rejected {
      approval.decision = answers(payload) ?? decision
    } else {
      approval.reason = approval.by == ended ? "its run was ended" : decision
    }
    return approval
  }

  /// Who resolves what a run has asked that is over.
  private static let ended = "approval-scope-closed"

  private static func state(_ decision: String?, by: JSONValue?) -> ApprovalRecord.State {
    switch decision {
    // A late gateway denies in nobody's name what nobody has answered in time.
    case "deny" where by?.isNull == true: .expired
    case _ where by?.string == ended: .cancelled
    case "allow-once", "allow-always", "allowed", "answered": .approved
    case "deny", "denied": .rejected
    case nil, "expired", "timeout": .expired
    // Never more than is known: nothing is approved by a word that means who knows what.
    default: .cancelled
    }
  }
}
