import Core
import Records

/// One voice session. A turn begins when somebody is let through to the agent, or when it
/// sets to work unasked; all that happens until its response is done belongs to it.
struct VoiceRoom {
  private let origin: RecordOrigin
  private let session: String
  /// What is to be told yet.
  private var events: [TurnEvent] = []
  private var turn: TurnRecord?
  private var total = TurnTotal()
  /// When something was done for the turn last; nil before anything was.
  private var lastWork: Timestamp?
  private var running: Set<String> = []
  /// What was said last to the agent, until a turn is called by it.
  private var heard: String?
  /// What somebody says now: its id, by who says it.
  private var spoken: [String: String] = [:]

  /// A turn in which nothing is done for so long has no response.
  private static let patience = Duration.seconds(60)

  init(_ origin: RecordOrigin, _ session: String) {
    self.origin = origin
    self.session = session
  }

  mutating func receive(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>) {
    let name = action.content ?? ""
    switch action.kind {
    case "voice_session_start": tellThread(.active, action)
    case "voice_session_end":
      end(.aborted, reason: "the voice session ended", at: action.time)
      tellThread(.archived, action)
    default:
      switch name {
      case "voice_turn_addressing" where metadata[.allow].isTrue:
        if heard != nil, running.isEmpty { giveUp(at: action.time) }
        begin(action.id, at: action.time)
      case "realtime_reply_requested":
        begin(action.id, at: action.time)
        lastWork = action.time
      case "realtime_reply_skipped":
        end(.completed, reason: metadata.text(.skipCause), at: action.time)
      case "realtime_tool_call_started", "realtime_tool_call_completed",
        "realtime_tool_call_failed", "voice_brain_tool_call":
        takeTool(action, metadata)
      default: takeOther(name, action, metadata)
      }
    }
  }

  private mutating func takeOther(
    _ name: String, _ action: ClankyAction, _ metadata: ScanFields<ClankyField>
  ) {
    if name.hasSuffix("_asr_partial_segment") {
      takeWords(action, metadata, isFinal: false)
    } else if name.hasSuffix("_asr_final_segment") || name == "file_asr_transcript" {
      takeWords(action, metadata, isFinal: true)
    } else if name.hasSuffix("_transcript") {
      metadata.text(.transcriptSource) == "input"
        ? takeWords(action, metadata, isFinal: true)
        : takeAnswer(action, metadata)
    } else if name.hasSuffix("_response_done") {
      takeResponse(action, metadata)
    }
  }

  mutating func receive(_ part: ChainPart) {
    guard let id = part.turn?.id else { return }
    let turn = begin(id + "/turn", at: part.started)
    total.add(part.usage, part.cost)
    lastWork = part.time
    events += part.events(in: turn, isInferred: true)
  }
}

extension VoiceRoom {
  private mutating func takeWords(
    _ action: ClankyAction, _ metadata: ScanFields<ClankyField>, isFinal: Bool
  ) {
    guard let text = metadata.text(.transcript) else { return }
    let who = action.user ?? metadata.text(.speakerName) ?? ""
    // Nobody says two things at once: what got another id on the way is the same.
    let id = spoken[who] ?? metadata.text(.itemId).map { "\(session)/\($0)" } ?? action.id
    var message = MessageRecord(
      origin, id: id, thread: session, role: .user, text: text, state: isFinal ? .final : .partial,
      time: action.time)
    message.author = metadata.text(.speakerName) ?? action.user
    spoken[who] = isFinal ? nil : id
    if isFinal { heard = id }
    tell(.setMessage(message, text: .whole), action.time)
  }

  private mutating func takeAnswer(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>) {
    guard let text = metadata.text(.transcript) else { return }
    var message = MessageRecord(
      origin, id: action.id, thread: session, role: .assistant, text: text, state: .final,
      time: action.time)
    message.turn = turn?.id
    message.isInferred = turn == nil ? nil : true
    turn?.message = message.id
    lastWork = action.time
    tell(.setMessage(message, text: .whole), action.time)
  }

  /// A response ended; one without sound asked for a tool, and the turn goes on.
  private mutating func takeResponse(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>) {
    begin(action.id, at: action.time)
    total.add(metadata.usage(.responseUsage), action.cost)
    if metadata[.hadAudio].isWord("false"), turn?.message == nil { return }
    let status = metadata.text(.responseStatus) ?? "completed"
    let state: TurnRecord.State =
      switch status {
      case "completed": .completed
      case "cancelled": .aborted
      default: .failed
      }
    end(state, reason: state == .completed ? nil : status, at: action.time)
  }
}

extension VoiceRoom {
  /// The turn that runs, or a new one, called by what was said last, else by its beginning.
  @discardableResult
  private mutating func begin(_ id: String, at time: Timestamp?) -> String {
    // What lies long back has no answer; what is done now is done for something else.
    if let lastWork, let time, running.isEmpty, lastWork.adding(Self.patience) < time {
      giveUp(at: lastWork)
    }
    if let turn { return turn.id }
    var record = TurnRecord(
      origin, id: heard ?? id, thread: session, state: .running, time: time)
    record.started = time
    heard = nil
    (total, lastWork, running) = (TurnTotal(), nil, [])
    turn = record
    tell(.setTurn(record), time)
    return record.id
  }

  private mutating func end(_ state: TurnRecord.State, reason: String?, at time: Timestamp?) {
    guard var record = turn else { return }
    (record.state, record.reason, record.time, record.ended) = (state, reason, time, time)
    (record.usage, record.cost) = (total.usage, total.cost)
    turn = nil
    tell(.setTurn(record), time)
  }

  /// Ends a turn that has no response: something else begins.
  private mutating func giveUp(at time: Timestamp?) {
    lastWork == nil
      ? end(.aborted, reason: "somebody else was let through", at: time)
      : end(.completed, reason: "no response", at: time)
  }

  private mutating func takeTool(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>) {
    let isStart = action.content == "realtime_tool_call_started"
    let hasFailed = action.kind == "voice_error" || metadata[.isError].isTrue
    let state: ToolCallRecord.State = isStart ? .running : hasFailed ? .failed : .succeeded
    var call = ToolCallRecord(
      origin, id: metadata.text(.callId) ?? action.id, thread: session,
      tool: metadata.text(.toolName) ?? "tool", state: state, time: action.time)
    if isStart {
      begin(action.id, at: action.time)
      running.insert(call.id)
    } else {
      running.remove(call.id)
    }
    lastWork = action.time
    call.turn = turn?.id
    call.isInferred = turn == nil ? nil : true
    call.arguments = metadata[.arguments].json ?? metadata[.toolInput].json
    if isStart {
      call.started = action.time
    } else {
      call.milliseconds = metadata.count(.runtimeMs) ?? metadata.count(.durationMs)
      call.started = ChainPart.start(action, call.milliseconds)
      call.ended = action.time
      call.reason = hasFailed ? metadata.text(.error) : nil
      let summary: [ClankyField] = [.outputSummary, .toolResultSummary]
      call.stdout =
        summary.lazy.compactMap { name in
          metadata.text(name) ?? metadata[name].json.map { String(decoding: $0, as: UTF8.self) }
        }.first
    }
    tell(.setToolCall(call), action.time)
  }

  private mutating func tellThread(_ state: ThreadRecord.State, _ action: ClankyAction) {
    var thread = ThreadRecord(origin, id: session, time: action.time)
    thread.state = state
    tell(.setThread(thread), action.time)
  }

  /// What came of it since the last time.
  mutating func takeEvents() -> [TurnEvent] {
    defer { events = [] }
    return events
  }

  private mutating func tell(_ change: TurnChange, _ time: Timestamp?) {
    events.append(TurnEvent(origin, thread: session, time: time, change))
  }
}
