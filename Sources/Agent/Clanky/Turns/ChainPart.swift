import Core
import Records

/// A step on the way to an answer: the call of a model, or of a tool. It does not say
/// whose it is, or only by the message that it names.
struct ChainPart {
  var turn: TurnRecord?
  var calls: [ToolCallRecord] = []
  let place: String
  private(set) var time: Timestamp?
  let user: String?
  let source: String
  let message: String?
  let cost: Double?
  /// Whether it is a step in a browser, which is told in two halves.
  private(set) var isStep = false
  var usage: TurnRecord.Usage? { turn?.usage }

  private init(_ action: ClankyAction, _ metadata: ScanFields<ClankyField>, place: String) {
    self.place = place
    time = action.time
    user = action.user
    source = metadata.text(.source) ?? ""
    message = metadata.text(.messageId)
    cost = action.cost
  }

  init(model action: ClankyAction, place: String) {
    let metadata = action.metadata
    self.init(action, metadata, place: place)
    let isError = action.kind == "llm_error"
    var turn = TurnRecord(
      action.origin, id: action.id, thread: place, state: isError ? .failed : .completed,
      time: action.time)
    let names = [metadata.text(.provider), metadata.text(.model)].compactMap(\.self)
    turn.agent = names.isEmpty ? nil : names.joined(separator: ":")
    turn.reason = isError ? action.content : Self.reason(metadata)
    turn.usage = metadata.usage(.usage)
    turn.cost = action.cost
    turn.ended = action.time
    turn.started = Self.start(action, Self.milliseconds(metadata))
    self.turn = turn
    for element in metadata[.toolCalls].elements {
      let call = ScanFields<ClankyField>(element.bytes)
      guard let name = call.text(.name) else { continue }
      let id = call.text(.id) ?? "\(action.id)/\(calls.count + 1)"
      var record = ToolCallRecord(
        action.origin, id: id, thread: place, tool: name, state: .planned, time: action.time)
      record.arguments = call[.input].json ?? call[.arguments].json
      calls.append(record)
    }
  }

  private static func milliseconds(_ metadata: ScanFields<ClankyField>) -> Int? {
    metadata.count(.latencyMs) ?? metadata.count(.durationMs)
  }

  /// When something began that is told when it ends; nil where nobody knows how long it took.
  static func start(_ action: ClankyAction, _ milliseconds: Int?) -> Timestamp? {
    milliseconds.flatMap { action.time?.adding(.milliseconds(-$0)) }
  }

  var started: Timestamp? { turn?.started ?? calls.first?.started ?? time }

  private static func reason(_ metadata: ScanFields<ClankyField>) -> String? {
    guard let stop = metadata.text(.stopReason), stop != "end_turn" else { return nil }
    var names = metadata.text(.toolNames)
    if metadata[.toolNames].isArray {
      names = metadata[.toolNames].elements.map { $0.string ?? "" }.joined(separator: ", ")
    }
    return names.map { "\(stop): \($0)" } ?? stop
  }

  init(tool: String, isError: Bool, _ action: ClankyAction, place: String) {
    let metadata = action.metadata
    self.init(action, metadata, place: place)
    var call = ToolCallRecord(
      action.origin, id: action.id, thread: place, tool: tool,
      state: isError ? .failed : .succeeded, time: action.time)
    call.arguments = metadata[.query].json.map { Array("{\"query\":".utf8) + $0 + [0x7d] }
    if isError {
      call.label = metadata.text(.query)
      call.reason = metadata.text(.errorMessage) ?? action.content
    } else {
      let found = metadata.count(.returnedResults).map { $0 == 1 ? "1 result" : "\($0) results" }
      call.label = [action.content, found].compactMap(\.self).joined(separator: " · ")
    }
    call.milliseconds = Self.milliseconds(metadata)
    call.started = Self.start(action, call.milliseconds)
    call.ended = action.time
    calls = [call]
  }

  init?(browser action: ClankyAction, place: String) {
    let metadata = action.metadata
    guard let key = metadata.text(.sessionKey) ?? metadata.text(.sessionId),
      let step = metadata.count(.step)
    else { return nil }
    self.init(action, metadata, place: place)
    let isResult = action.kind == "browser_tool_result"
    let state: ToolCallRecord.State =
      isResult ? (metadata[.isError].isTrue ? .failed : .succeeded) : .running
    var call = ToolCallRecord(
      action.origin, id: "\(key)/\(step)", thread: place,
      tool: metadata.text(.tool) ?? (isResult ? nil : action.content) ?? "browser", state: state,
      time: action.time)
    if isResult {
      call.stdout = action.content
      call.ended = action.time
      if let whole = metadata.count(.fullLength), let content = action.content {
        call.isTruncated = whole > content.utf16.count
      }
      if state == .failed { call.reason = action.content }
    } else {
      call.arguments = metadata[.input].json
      call.started = action.time
    }
    calls = [call]
    isStep = true
  }

  /// Makes a step whole with the half of it that is known; an end never turns back.
  mutating func complete(with known: ChainPart) {
    guard let new = calls.first, let old = known.calls.first else { return }
    let (begin, end) = old.state.isEnd && !new.state.isEnd ? (new, old) : (old, new)
    var whole = begin
    if whole.merge(end) { whole.stdout = end.stdout ?? begin.stdout }
    whole.tool = begin.tool
    calls = [whole]
    // It was done when it began.
    time = begin.started ?? known.time ?? time
  }

  /// `isInferred`: whether place and time alone say that it is part of `parent`.
  func events(in parent: String?, isInferred: Bool) -> [TurnEvent] {
    var events: [TurnEvent] = []
    func tell(_ origin: RecordOrigin, _ time: Timestamp?, _ change: TurnChange) {
      events.append(TurnEvent(origin, thread: place, time: time, change))
    }
    let mark: Bool? = isInferred ? true : nil
    if var turn {
      turn.parent = parent
      turn.isInferred = mark
      tell(turn.origin, turn.time, .setTurn(turn))
    }
    for var call in calls {
      call.turn = parent ?? turn?.id
      call.isInferred = mark
      tell(call.origin, call.time, .setToolCall(call))
    }
    return events
  }
}
