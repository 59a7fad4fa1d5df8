package import Core
package import Records

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
      enqueued: request["enqueuedAt"].flatMap { time in
        time.string.flatMap { Timestamp(rfc3339: $0) } ?? time.instant
      })
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
