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
    return ProtocolSwitch(answer: Array(answer.utf8)) { socket in
      await PeerSession(socket, self, number: numbers.next()).run()
    }
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
    switch (head.method, head.path) {
    case ("GET", "/health"), ("GET", "/healthz"), ("GET", "/readyz"):
      return .whole(.json(#"{"ok":true,"status":"live"}"#))
    case ("GET", "/"): return .whole(upgradeRequired(head))
    case (_, "/v1/responses"), (_, "/api/agents"), (_, "/api/chat/agent"):
      guard isAllowed(head) else { return .whole(refusal("Unauthorized", 401, "unauthorized")) }
      do {
        switch (head.method, head.path) {
        case ("POST", "/v1/responses"): return try await respond(head, ResponsesRequest(body))
        case ("GET", "/api/agents"): return .whole(.json(Self.agents.bytes))
        case ("POST", "/api/chat/agent"): return .whole(try await chat(body))
        default: return .whole(refusal("Method Not Allowed", 405))
        }
      } catch let fault as GatewayFault {
        let isLater = fault.code == "UNAVAILABLE"
        return .whole(
          refusal(fault.message, isLater ? 503 : 400, isLater ? "api_error" : nil))
      } catch {
        serving.diagnostics.errorRarely(head.path, errorText(error))
        return .whole(refusal(errorText(error), 500, "api_error"))
      }
    case ("GET", _), ("HEAD", _): return .whole(.noSuchPath)
    default: return .whole(.noSuchMethod)
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
