import Core
import Records

/// What the frames of a joelclaw gateway tell of turns (CONTRACT.md 3). A frame says neither
/// of which conversation nor of which turn it is: the last `status` said so.
public struct JoelclawTurns: TurnDecoder {
  private var rooms: [RecordOrigin: JoelclawRoom] = [:]

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    guard line.shape == .own || line.shape == .event || line.isWrapped,
      let kind = JoelclawFrame(line.object)
    else { return false }
    let origin = line.origin(.joelclaw)
    if kind == .lost {
      return rooms[origin]?.cut(line.received, &events) == true
    }
    // An error may be anybody's.
    guard kind != .error || rooms[origin] != nil, let frame = line.value else { return false }
    return rooms[origin, default: JoelclawRoom(origin)].receive(kind, frame, line, &events)
  }
}

private struct JoelclawRoom {
  let origin: RecordOrigin
  private var session = ""
  private var request: String?
  /// The messages so far, by which they are told apart, and whether one is being said.
  private var count = 0
  private var isTalking = false
  private var split = SplitText()
  /// The last status as it came, and a failure behind which nothing was said.
  private var (status, failure): (String?, String?)
  /// Why a part of what was said is missing.
  private var loss: String?
  private var process: Int64?

  init(_ origin: RecordOrigin) { self.origin = origin }

  mutating func receive(
    _ kind: JoelclawFrame, _ frame: JSONValue, _ line: TurnLine, _ events: inout [TurnEvent]
  ) -> Bool {
    let time = line.received
    switch kind {
    case .status:
      guard let data = frame["data"], data.isObject else { return false }
      // On one connection agent-tail(1) tells no status twice.
      let told = data.compact()
      if line.isWrapped, isTalking, told == status { _ = cut(time, &events) }
      status = told
      receive(status: data, time, &events)
    case .textDelta:
      guard let piece = frame["delta"]?.piece else { return false }
      failure = nil
      if !isTalking { count += 1 }
      isTalking = true
      say(split.next(piece), .partial, time, &events)
    case .turnEnd:
      if isTalking { say(split.end(), .final, time, &events) }
      isTalking = false
    case .toolCall, .toolResult:
      guard let call = call(frame, line.object, kind, time) else { return false }
      add(.setToolCall(call), time, &events)
    case .error:
      // The agent may get over it.
      if request != nil { failure = frame["message"]?.text ?? "no reason is given" }
    case .lost: break
    }
    return true
  }

  /// The connection is lost, and the rest of a message with it: whether one was being said.
  mutating func cut(_ time: Timestamp?, _ events: inout [TurnEvent]) -> Bool {
    guard isTalking else { return false }
    say(split.end(), .aborted, time, &events)
    isTalking = false
    if request != nil { loss = "a part of it is missing: the connection was lost" }
    return true
  }

  /// A conversation has a name, also before the first `status`.
  private var thread: String { session.isEmpty ? "gateway" : session }

  private mutating func receive(
    status: JSONValue, _ time: Timestamp?, _ events: inout [TurnEvent]
  ) {
    if let id = status["sessionId"]?.string, !id.isEmpty { session = id }
    guard let supersession = status["supersession"], supersession.isObject else { return }
    let active = supersession["activeRequest"]?["id"]?.text
    // A gateway that was restarted begins again with another request.
    let number = status["pid"]?.integer
    if request != nil, let number, let process, number != process {
      _ = cut(time, &events)
      loss = "the gateway was restarted"
    }
    process = number ?? process
    if active == request { return }
    if let request {
      let reason = failure ?? loss
      var turn = TurnRecord(
        origin, id: request, thread: thread, state: reason == nil ? .completed : .failed,
        time: time)
      turn.reason = reason
      add(.setTurn(turn), time, &events, goesOn: false)
    }
    (failure, loss) = (nil, nil)
    request = active
    guard let active else { return }
    var turn = TurnRecord(origin, id: active, thread: thread, state: .running, time: time)
    turn.started =
      supersession["activeRequest"]?["enqueuedAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
      ?? time
    add(.setTurn(turn), time, &events, goesOn: false)
  }

  private func say(
    _ piece: String, _ state: MessageRecord.State, _ time: Timestamp?,
    _ events: inout [TurnEvent]
  ) {
    var record = MessageRecord(
      origin, id: "\(thread)/\(count)", thread: thread, role: .assistant, text: piece,
      state: state, time: time)
    record.turn = request
    if state == .aborted { record.reason = "the connection was lost" }
    let text = piece.isEmpty ? TurnText.unchanged : .appended
    add(.setMessage(record, text: text), time, &events)
  }

  private func call(
    _ frame: JSONValue, _ raw: ScanValue, _ kind: JoelclawFrame, _ time: Timestamp?
  ) -> ToolCallRecord? {
    guard let id = frame["id"]?.text, !id.isEmpty else { return nil }
    let tool = frame[either: "toolName", "name"]?.string ?? ""
    var call = ToolCallRecord(
      origin, id: id, thread: thread, tool: tool, state: .running, time: time)
    call.turn = request
    if kind == .toolCall {
      let input = try? ScanMembers.value(of: "input", in: raw.bytes)
      call.arguments = input.flatMap(\.json)
      call.started = time
    } else {
      call.state = frame["isError"]?.bool == true ? .failed : .succeeded
      let content = frame["content"]
      call.stdout =
        content?.string ?? content.map { $0.elements.compactMap { $0["text"]?.string }.joined() }
      call.ended = time
    }
    return call
  }

  private func add(
    _ change: TurnChange, _ time: Timestamp?,
    _ events: inout [TurnEvent], goesOn: Bool = true
  ) {
    var event = TurnEvent(origin, thread: thread, time: time, change)
    event.turn = goesOn ? request ?? "" : ""
    events.append(event)
  }
}

private enum JoelclawFrame: Sendable {
  case status, textDelta, turnEnd, toolCall, toolResult, error
  case lost

  private static let names = NameTable<JoelclawFrame>([
    ("status", .status), ("text_delta", .textDelta), ("turn_end", .turnEnd),
    ("tool_call", .toolCall), ("tool_result", .toolResult), ("error", .error), ("lost", .lost),
  ])

  init?(_ object: ScanValue) {
    guard let type = try? ScanMembers.value(of: "type", in: object.bytes),
      let kind = Self.names.word(type)
    else { return nil }
    self = kind
  }
}
