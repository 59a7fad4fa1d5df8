import Core
import Frames
import Synchronization

struct GatewayService: RequestService {
  let gateway: Gateway
  let serving: Serving
  let numbers = Numbers()

  final class Numbers: Sendable {
    private let last = Atomic(0)

    func next() -> Int { last.add(1, ordering: .relaxed).newValue }
  }

  /// The WebSocket that a request asks for (RFC 6455, section 4.2).
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch? {
    guard asksForSocket(head), head["sec-websocket-version"] == "13", refusal(of: head) == nil
    else { return nil }
    let key = head["sec-websocket-key"] ?? ""
    guard key.utf8.count == 24, Base64.bytes(Array(key.utf8))?.count == 16,
      head.framing == .length(0)
    else { throw .malformed }
    let answer =
      WholeAnswer.statusLine(101) + "Upgrade: websocket\r\nConnection: upgrade\r\n"
      + "Sec-WebSocket-Accept: \(HandshakeKey.accept(key))\r\n\r\n"
    return (
      Array(answer.utf8), { await PeerSession($0, self, number: numbers.next()).run() }
    )
  }

  private func asksForSocket(_ head: RequestHead) -> Bool {
    head.method == "GET" && !head.isOld && head.lists("connection", "upgrade")
      && head.lists("upgrade", "websocket")
  }

  func upgradeRequired(_ head: RequestHead) -> WholeAnswer {
    var answer = WholeAnswer.error("this port speaks WebSocket", status: 426)
    // Who knows of WebSockets, and asks in a way that is none of theirs, need not be told.
    answer.upgrade = asksForSocket(head) || !head.lists("connection", "upgrade")
    return answer
  }

  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    guard head.method == "POST", refusal(of: head) == nil, takesBody(head) else {
      return BodyPlan()
    }
    return BodyPlan(keeps: true, share: BodyPlan.budget.share(), isHeld: true)
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    if let refusal = refusal(of: head) { return .whole(refusal) }
    if asksForSocket(head) { return .whole(upgradeRequired(head)) }
    if !head.isMethodKnown { return .whole(.unknownMethod) }
    guard case .whole(let bytes) = body.behindMark else { return .whole(.tooLarge) }
    return await serve(head, bytes)
  }

  /// A page in a browser may open a WebSocket anywhere; only a token, which it lacks, forbids it.
  func refusal(of head: RequestHead) -> WholeAnswer? {
    var refusal: WholeAnswer
    if let names = serving.names, !names.serve(head.authority) {
      refusal = .misdirected
    } else if serving.token == nil && head["origin"] != nil {
      refusal = .foreignOrigin
    } else {
      return nil
    }
    // Who wanted another protocol has nothing else to say here.
    refusal.closes = asksForSocket(head)
    return refusal
  }
}

/// Replies over plain HTTP (Agent/OpenClaw/CONTRACT.md 9 to 11).
extension GatewayService {
  func serve(_ head: RequestHead, _ body: [UInt8]) async -> ServedAnswer {
    let needsToken = ["/v1/responses", "/api/agents", "/api/chat/agent"].contains(head.path)
    if needsToken, !isAllowed(head) { return .whole(refusal("Unauthorized", 401, "unauthorized")) }
    do {
      switch (head.method, head.path) {
      case ("GET", "/health"), ("GET", "/healthz"), ("GET", "/readyz"):
        return .whole(.json(#"{"ok":true,"status":"live"}"#))
      case ("GET", "/"): return .whole(upgradeRequired(head))
      case ("POST", "/v1/responses"): return try await respond(head, ResponsesRequest(body))
      case ("GET", "/api/agents"): return .whole(.json(Self.agents.bytes))
      case ("POST", "/api/chat/agent"): return .whole(try await chat(body))
      case _ where needsToken: return .whole(refusal("Method Not Allowed", 405))
      case ("GET", _), ("HEAD", _): return .whole(.noSuchPath)
      default: return .whole(.noSuchMethod)
      }
    } catch let fault as GatewayFault {
      let isLater = fault.code == "UNAVAILABLE"
      return .whole(refusal(fault.message, isLater ? 503 : 400, isLater ? "api_error" : nil))
    } catch {
      serving.diagnostics.errorRarely(head.path, errorText(error))
      return .whole(refusal(errorText(error), 500, "api_error"))
    }
  }

  private static let agents: JSONNode = [
    "agents": [["id": .text(SessionKey.agent), "name": "agent-serve", "emoji": "\u{1f41a}"]]
  ]

  func takesBody(_ head: RequestHead) -> Bool {
    ["/v1/responses", "/api/chat/agent"].contains(head.path) && isAllowed(head)
  }

  private func isAllowed(_ head: RequestHead) -> Bool {
    guard let token = serving.token else { return true }
    let value = head["authorization"] ?? ""
    let scheme = "bearer "
    guard value.lowercased().hasPrefix(scheme) else { return false }
    return token.matches(String(value.dropFirst(scheme.count)).trimmingBlanks())
  }

  private func refusal(_ message: String, _ status: Int, _ type: String? = nil) -> WholeAnswer {
    let body: JSONNode = [
      "error": ["message": .text(message), "type": .text(type ?? "invalid_request_error")]
    ]
    return .json(body.bytes, status: status)
  }

  // MARK: - POST /v1/responses

  private func respond(
    _ head: RequestHead, _ request: ResponsesRequest
  ) async throws -> ServedAnswer {
    let id = randomUUID()
    let session = try await session(head, request, id)
    let parts = try await gateway.reply(to: request.message, session, id: id)
    let answer = ResponsesAnswer(id: id, model: request.model, created: Timestamp.now().seconds)
    guard request.streams else {
      let (outcome, text) = await end(of: parts, id)
      return .whole(
        .json(
          answer.response(outcome, text).bytes, status: outcome == .reply ? 200 : 500))
    }
    return .stream(ResponsesStream(gateway: gateway, id: id, parts: parts, answer: answer))
  }

  private struct ResponsesStream: EventSource {
    let gateway: Gateway
    let id: String
    let parts: AsyncStream<Run.Part>
    let answer: ResponsesAnswer

    func send(to client: EventSink) async throws {
      // Also where the client is gone before anything was sent.
      defer { Task { [gateway, id] in await gateway.abandon(id) } }
      let sending = Poller.start(throwing: {
        try await client.begin()
        try await client.send([Block(answer.opening)])
        for await part in parts {
          switch part {
          // The end has the whole text: what was said before stays said.
          case .text(let text, _): try await client.send([Block(answer.delta(text))])
          case .ended(let outcome, let text):
            try await client.send([Block(answer.closing(outcome, text))])
          }
        }
        try Task.checkCancellation()
      })
      client.whenLeft { sending.cancel() }
      try await sending.value
    }
  }

  /// The conversation named, that of the user or of the answer before, or one of its own.
  private func session(
    _ head: RequestHead, _ request: ResponsesRequest, _ id: String
  ) async throws -> SessionKey {
    if let key = head["x-openclaw-session-key"], !key.isEmpty {
      guard key.utf16.count <= 512 else { throw GatewayFault.invalid("session key too long") }
      return try SessionKey(key)
    }
    if let user = request.user { return try SessionKey("openresponses-user:\(user)") }
    if let previous = request.previous, previous.hasPrefix("resp_"),
      let session = await gateway.session(of: String(previous.dropFirst(5)))
    {
      return session
    }
    return try SessionKey("openresponses:\(id)")
  }

  private func end(
    of parts: AsyncStream<Run.Part>, _ id: String
  ) async -> (Run.Outcome, String) {
    for await part in parts {
      if case .ended(let outcome, let text) = part { return (outcome, text) }
    }
    if Task.isCancelled { await gateway.abandon(id) }
    return (.aborted, "")
  }

  // MARK: - POST /api/chat/agent

  /// Claudio's own form: the conversation so far, whose last message is replied to.
  private func chat(_ body: [UInt8]) async throws -> WholeAnswer {
    let value = try GatewayRequest.value(body)
    if let agent = value["agent"]?.string, !agent.isEmpty { try SessionKey.check(agent: agent) }
    let last = value["messages"]?.elements.last { $0["role"]?.string == "user" }
    guard let message = last?["content"]?.string else {
      throw GatewayFault.invalid("messages: no message of a user")
    }
    let id = randomUUID()
    let parts = try await gateway.reply(to: message, SessionKey("http:\(id)"), id: id)
    let (outcome, text) = await end(of: parts, id)
    if case .failed(let reason, _) = outcome { return refusal(reason, 500, "api_error") }
    let answer: JSONNode = [
      "choices": [["message": ["role": "assistant", "content": .text(text)]]]
    ]
    return .json(answer.bytes)
  }
}

/// A request of `POST /v1/responses` (Agent/OpenClaw/CONTRACT.md 10), as far as a
/// command that reads one message can be told.
struct ResponsesRequest: Equatable, Sendable {
  /// What the agent is asked: the last message of a user, or output of a tool.
  let message: String
  let model: String
  let streams: Bool
  let user: String?
  let previous: String?

  init(_ body: [UInt8]) throws(GatewayFault) {
    let value = try GatewayRequest.value(body)
    try Self.form.check(value, "invalid request")
    model = value["model"]?.string ?? ""
    guard Self.models.contains(model) else { throw .invalid("unknown model") }
    streams = value["stream"]?.bool ?? false
    user = value["user"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    previous = value["previous_response_id"]?.string
    message = try Self.message(value["input"])
  }

  private static func message(_ input: JSONValue?) throws(GatewayFault) -> String {
    if let text = input?.string { return text }
    guard let input, input.kind == .array else {
      throw .invalid("invalid request.input: of another type")
    }
    for item in input.elements.reversed() {
      switch item["type"]?.string {
      case "message" where item["role"]?.string == "user": return try text(item["content"])
      case "function_call_output":
        if let output = item["output"]?.string { return output }
      default: continue
      }
    }
    throw .invalid("invalid request.input: no message of a user")
  }

  private static func text(_ content: JSONValue?) throws(GatewayFault) -> String {
    if let text = content?.string { return text }
    var texts: [String] = []
    for part in content?.elements ?? [] {
      switch part["type"]?.string {
      case "input_text", "output_text": texts.append(part["text"]?.string ?? "")
      default: throw .invalid("invalid request.input: the reply command reads text alone")
      }
    }
    return texts.joined(separator: "\n")
  }

  private static let models = [
    "openclaw", "default", "openclaw/default", "openclaw/\(SessionKey.agent)",
    "openclaw:\(SessionKey.agent)", "agent:\(SessionKey.agent)",
  ]
  private static let form: ClosedObject = [
    "model": .name, "input": .any, "stream?": .bool, "instructions?": .any,
    "max_output_tokens?": .any, "temperature?": .any, "top_p?": .any, "tools?": .any,
    "tool_choice?": .any, "user?": .text(0...200), "previous_response_id?": .any,
    "max_tool_calls?": .any, "reasoning?": .any, "metadata?": .any, "store?": .any,
    "truncation?": .any,
  ]
}

struct ResponsesAnswer: Sendable {
  private static let silence = "No response from OpenClaw."

  let id: String
  let model: String
  /// Seconds.
  let created: Int64

  private var item: String { "msg_\(id)" }

  /// The response object.
  func response(_ outcome: Run.Outcome?, _ text: String) -> JSONNode {
    var error = JSONNode.absent
    let status =
      switch outcome {
      case nil: "in_progress"
      case .reply: "completed"
      case .aborted: "cancelled"
      case .failed: "failed"
      }
    if case .failed(let reason, _) = outcome {
      error = ["code": "api_error", "message": .text(reason)]
    }
    return [
      "id": .text("resp_\(id)"), "object": "response", "created_at": .number(Int(created)),
      "status": .text(status), "model": .text(model),
      "output": outcome == .reply ? [message(text)] : [],
      // Nobody counts them here.
      "usage": ["input_tokens": 0, "output_tokens": 0, "total_tokens": 0], "error": error,
    ]
  }

  var opening: [UInt8] {
    let response = response(nil, "")
    return event("response.created", ["response": response])
      + event("response.in_progress", ["response": response])
      + event(
        "response.output_item.added",
        [
          "output_index": 0,
          "item": [
            "type": "message", "id": .text(item), "role": "assistant", "content": [],
            "status": "in_progress",
          ],
        ])
      + event("response.content_part.added", place.adding(["part": part("")]))
  }

  func delta(_ text: String) -> [UInt8] {
    event("response.output_text.delta", place.adding(["delta": .text(text)]))
  }

  func closing(_ outcome: Run.Outcome, _ text: String) -> [UInt8] {
    let done = "data: [DONE]\n\n".utf8
    let response = response(outcome, text)
    guard outcome == .reply else { return event("response.failed", ["response": response]) + done }
    return event("response.output_text.done", place.adding(["text": .text(shown(text))]))
      + event("response.content_part.done", place.adding(["part": part(shown(text))]))
      + event(
        "response.output_item.done", ["output_index": 0, "item": message(text)])
      + event("response.completed", ["response": response]) + done
  }

  private var place: JSONNode { ["item_id": .text(item), "output_index": 0, "content_index": 0] }

  private func shown(_ text: String) -> String { text.isEmpty ? Self.silence : text }

  private func part(_ text: String) -> JSONNode { ["type": "output_text", "text": .text(text)] }

  private func message(_ text: String) -> JSONNode {
    [
      "type": "message", "id": .text(item), "role": "assistant", "content": [part(shown(text))],
      "status": "completed",
    ]
  }

  private func event(_ type: String, _ members: JSONNode) -> [UInt8] {
    let data: JSONNode = ["type": .text(type)]
    return Array("event: \(type)\ndata: ".utf8) + data.adding(members).bytes + Array("\n\n".utf8)
  }
}
