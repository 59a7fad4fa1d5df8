package import Core
package import Records

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
    turn.started = supersession["activeRequest"]?["enqueuedAt"]?.time ?? time
    add(.setTurn(turn), time, &events, goesOn: false)
  }

  private func say(
    _ piece: String, _ state: MessageRecord.State, _ time: Timestamp?,
    _ events: inout [TurnEvent]
  ) {
    var record = MessageRecord(
      origin, id: "\(thread)/\(count)", thread: thread, turn: request, role: .assistant,
      text: piece,
      state: state, time: time)
    if state == .aborted { record.reason = "the connection was lost" }
    let text = piece.isEmpty ? TurnText.unchanged : .appended
    add(.setMessage(record, text: text), time, &events)
  }

  private func add(
    _ change: TurnChange, _ time: Timestamp?,
    _ events: inout [TurnEvent], goesOn: Bool = true
  ) {
    let turn = goesOn ? request ?? "" : ""
    events.append(TurnEvent(origin, thread: thread, turn: turn, time: time, change))
  }
}

/// A frame of a gateway, by what it tells (CONTRACT.md 1).
package enum JoelclawEvent {
  case status(JoelclawStatus)
  case text(TextPiece)
  case turnEnd
  case toolCall(id: String, tool: String, arguments: [UInt8]?)
  case toolResult(id: String, tool: String?, output: String?, isError: Bool)
  case error(String)
  case other

  package static func type(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> String {
    if let (fault, offset) = ScanValidator.firstFault(bytes) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    do throws(ScanFault) {
      let type = try ScanMembers.value(of: "type", in: bytes)
      if type.isString, let name = type.string { return name }
    } catch {
      throw Failure(error.reason)
    }
    throw Failure("it has no type")
  }

  package init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    try self.init(type: Self.type(bytes), bytes)
  }

  /// The same of JSON that was looked at.
  init(type: String, _ bytes: UnsafeRawBufferPointer) throws(Failure) {
    self = .other
    guard Self.known.contains(type) else { return }
    // Text is not lost to what stands beside it.
    if type == "turn_end" {
      self = .turnEnd
      return
    }
    if type == "text_delta" {
      let delta = try? ScanMembers.value(of: "delta", in: bytes)
      if let piece = delta?.piece { self = .text(piece) }
      return
    }
    guard let frame = try? JSONValue.parse(bytes) else {
      throw Failure("\(type): it cannot be parsed")
    }
    switch type {
    case "status": if let status = JoelclawStatus(frame["data"]) { self = .status(status) }
    case "error": self = .error(frame["message"]?.text ?? "no reason is given")
    default:
      guard let id = frame["id"]?.text, !id.isEmpty else { return }
      let tool = frame[either: "toolName", "name"]?.string
      if type == "tool_call" {
        let input = try? ScanMembers.value(of: "input", in: bytes)
        self = .toolCall(id: id, tool: tool ?? "", arguments: input.flatMap(\.json))
      } else {
        let content = frame["content"]
        let pieces = content.map { $0.elements.compactMap { $0["text"]?.string } }
        self = .toolResult(
          id: id, tool: tool, output: content?.string ?? pieces?.joined(),
          isError: frame["isError"]?.bool == true)
      }
    }
  }

  private static let known: Set = [
    "status", "text_delta", "turn_end", "error", "tool_call", "tool_result",
  ]

  /// The call that it tells of; nil for what is not of a tool.
  package func call(
    _ origin: RecordOrigin, thread: String, _ time: Timestamp?
  ) -> ToolCallRecord? {
    switch self {
    case .toolCall(let id, let tool, let arguments):
      var call = ToolCallRecord(
        origin, id: id, thread: thread, tool: tool, state: .running, time: time)
      (call.arguments, call.started) = (arguments, time)
      return call
    case .toolResult(let id, let tool, let output, let isError):
      var call = ToolCallRecord(
        origin, id: id, thread: thread, tool: tool ?? "", state: isError ? .failed : .succeeded,
        time: time)
      (call.stdout, call.ended) = (output, time)
      return call
    case .status, .text, .turnEnd, .error, .other: return nil
    }
  }
}

/// What a status says of the agent (CONTRACT.md 2).
package struct JoelclawStatus: Equatable {
  package struct Request: Equatable {
    package let id: String
    /// Who asked: `tui` is a client of the socket.
    package let source: String
    /// When, by the gateway's clock.
    package let enqueued: Timestamp?

    package init(id: String, source: String, enqueued: Timestamp?) {
      (self.id, self.source, self.enqueued) = (id, source, enqueued)
    }
  }

  /// The agent's session, which is the conversation.
  package let session: String?
  package let active: Request?
  /// The gateway's process: another one has been restarted.
  let process: Int64?
  /// How long it runs, ms.
  let uptime: Int64?
  /// Whether the agent is saying something.
  let isTalking: Bool
  /// `normal`, `redis_degraded`.
  let mode: String?

  package init?(_ data: JSONValue?) {
    guard let data, data.isObject else { return nil }
    session = data["sessionId"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    process = data["pid"]?.integer
    uptime = data["uptimeMs"]?.integer
    isTalking = data["isStreaming"]?.bool == true
    mode = data["mode"]?.string
    guard let request = data["supersession"]?["activeRequest"], request.isObject else {
      active = nil
      return
    }
    active = Request(
      id: request["id"]?.text ?? "", source: request["source"]?.string ?? "",
      enqueued: request["enqueuedAt"].flatMap { $0.time ?? $0.instant })
  }

  package static let ours = "tui"

  /// How long it runs is no news.
  package static func == (one: Self, other: Self) -> Bool {
    one.session == other.session && one.active == other.active && one.process == other.process
      && one.mode == other.mode
  }

  /// Whether what is sent now is lost.
  package var isWithoutRedis: Bool { mode == "redis_degraded" }

  /// Within so many ms of its start a gateway has said nothing yet, unless it says that it does.
  private static let silent: Int64 = 1000

  /// Whether a gateway that was restarted may have said something before it was asked.
  package var mayHaveBegun: Bool { active != nil && (isTalking || (uptime ?? .max) > Self.silent) }

  /// Whether another process answers than the one before.
  package func isRestarted(since old: JoelclawStatus?) -> Bool {
    if let process, let before = old?.process, process != before { return true }
    guard let uptime, let before = old?.uptime else { return false }
    return uptime < before
  }
}
