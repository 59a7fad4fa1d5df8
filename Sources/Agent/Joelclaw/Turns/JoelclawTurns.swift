import Core
import Records

/// What the frames of a joelclaw gateway tell of turns (CONTRACT.md 3). A frame says neither
/// of which conversation nor of which turn it is: the last `status` said so.
public struct JoelclawTurns: TurnDecoder {
  private var rooms: [RecordOrigin: JoelclawRoom] = [:]

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    guard line.shape == .own || line.shape == .event || line.isWrapped,
      let type = try? ScanMembers.value(of: "type", in: line.object.bytes),
      let kind = Self.kinds.word(type)
    else { return false }
    let origin = line.origin(.joelclaw)
    if kind == .lost { return rooms[origin]?.cut(line.received, &events) == true }
    guard kind != .error || rooms[origin] != nil,
      let event = try? JoelclawEvent(type: type.string ?? "", line.object.bytes)
    else { return false }
    return rooms[origin, default: JoelclawRoom(origin)].receive(event, line, &events)
  }

  private enum Kind: Sendable {
    case frame
    /// It may be anybody's.
    case error
    case lost
  }

  private static let kinds = NameTable<Kind>([
    ("status", .frame), ("text_delta", .frame), ("turn_end", .frame), ("tool_call", .frame),
    ("tool_result", .frame), ("error", .error), ("lost", .lost),
  ])
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
    _ event: JoelclawEvent, _ line: TurnLine, _ events: inout [TurnEvent]
  ) -> Bool {
    let time = line.received
    switch event {
    case .status:
      guard let data = line.value?["data"] else { return false }
      // On one connection agent-tail(1) tells no status twice.
      let told = data.compact()
      if line.isWrapped, isTalking, told == status { _ = cut(time, &events) }
      status = told
      receive(status: data, time, &events)
    case .text(let piece):
      failure = nil
      if !isTalking { count += 1 }
      isTalking = true
      say(split.next(piece), .partial, time, &events)
    case .turnEnd:
      if isTalking { say(split.end(), .final, time, &events) }
      isTalking = false
    case .toolCall, .toolResult:
      guard var call = event.call(origin, thread: thread, time) else { return false }
      call.turn = request
      add(.setToolCall(call), time, &events)
    // The agent may get over it.
    case .error(let reason): if request != nil { failure = reason }
    case .other: return false
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

  private func add(
    _ change: TurnChange, _ time: Timestamp?,
    _ events: inout [TurnEvent], goesOn: Bool = true
  ) {
    var event = TurnEvent(origin, thread: thread, time: time, change)
    event.turn = goesOn ? request ?? "" : ""
    events.append(event)
  }
}
