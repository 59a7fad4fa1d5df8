import Core

/// What is said, and what was said.
extension Gateway {
  /// The words that stop what is under way in a conversation.
  private static let stopWords: Set<String> = ["stop", "/stop", "abort", "/abort", "interrupt"]
  /// How many messages may wait for their turn, and how many bytes they may have together.
  private static let queueLimit = 64
  private static let queueBytes = 32 << 20
  /// How long a reply may take by default, seconds.
  static let replySeconds = 600

  /// `chat.send`: begins a run and says so; a key that is known already begins none.
  func send(_ params: Params, _ request: GatewayRequest, _ client: Client) async throws {
    let key = params.text("idempotencyKey")
    let session = try SessionKey(params.text("sessionKey"))
    if let known = runs[key] {
      return try client.peer.send(GatewayFrame.answer(request.id, known.result()))
    }
    if Self.stopWords.contains(params.text("message").trimmingBlanks().lowercased()) {
      let ids = await abort(session)
      let payload: JSONNode = [
        "ok": true, "aborted": .bool(!ids.isEmpty), "runIds": .texts(ids),
      ]
      return client.peer.send(GatewayFrame.answer(request.id, payload))
    }
    if params.text("queueMode") == "interrupt" { _ = await abort(session) }
    let seconds = params.number("timeoutMs").map { Double($0) / 1000 }
    let run = try await begin(
      key, session, params.text("message"), seconds: seconds, client.peer.number)
    client.peer.send(
      GatewayFrame.answer(request.id, ["runId": .text(run.id), "status": "started"]))
    startRuns()
  }

  /// `agent`: the same with two answers, the second one at the end.
  func runAgent(_ params: Params, _ request: GatewayRequest, _ client: Client) async throws {
    let agent = params.text("agentId")
    if !agent.isEmpty { try SessionKey.check(agent: agent) }
    let given = params.text("sessionKey")
    let session = try given.isEmpty ? SessionKey.main : SessionKey(given)
    let key = params.text("idempotencyKey")
    let run: Run
    if let known = runs[key] {
      if known.isCrowded { throw GatewayFault.invalid("too many wait for this run") }
      run = known
    } else {
      run = try await begin(
        key, session, params.text("message"),
        seconds: params.number("timeout").map(Double.init), client.peer.number)
    }
    let accepted: JSONNode = [
      "runId": .text(key), "status": "accepted", "acceptedAt": .time(.now()),
    ]
    // Not the request, whose message may be long.
    let (peer, name) = (client.peer, request.id)
    peer.send(GatewayFrame.answer(name, accepted))
    atEnd(of: run, peer.number) { run in
      do throws(GatewayFault) {
        peer.send(GatewayFrame.answer(name, try run.result()))
      } catch {
        peer.send(GatewayFrame.refusal(name, error, payload: run.ending))
      }
    }
    startRuns()
  }

  /// `agent.wait`: answers when a run has ended, or when the time is over.
  func wait(_ params: Params, _ request: GatewayRequest, _ client: Client) throws {
    guard let run = runs[params.text("runId")] else {
      throw GatewayFault(code: "AGENT_RESULT_NOT_FOUND", message: "unknown run")
    }
    if run.isCrowded { throw GatewayFault.invalid("too many wait for this run") }
    let (peer, name) = (client.peer, request.id)
    let number = atEnd(of: run, peer.number) { run in
      peer.send(GatewayFrame.answer(name, run.ending))
    }
    guard run.outcome == nil else { return }
    let limit = min(params.number("timeoutMs") ?? 30_000, 3_600_000)
    run.timers[number] = Task { [id = run.id] in
      try await Poller.sleep(for: .milliseconds(limit))
      guard let run = runs[id], run.waiters.removeValue(forKey: number) != nil else { return }
      run.timers[number] = nil
      peer.send(GatewayFrame.answer(name, ["runId": .text(id), "status": "timeout"]))
    }
  }

  /// `chat.abort`: ends one run of a conversation, or all.
  func abort(_ params: Params) async throws -> JSONNode {
    let session = try SessionKey(params.text("sessionKey"))
    let key = params.text("runId")
    var ids: [String] = []
    if key.isEmpty {
      ids = await abort(session)
    } else if let run = runs[key] {
      guard run.session == session else {
        throw GatewayFault.invalid("runId does not match sessionKey")
      }
      if run.outcome == nil {
        ids = [key]
        await abort(run, reason: "rpc")
      }
    }
    return ["ok": true, "aborted": .bool(!ids.isEmpty), "runIds": .texts(ids)]
  }

  /// Ends all runs of a conversation.
  ///
  /// - Returns: their keys.
  private func abort(_ session: SessionKey) async -> [String] {
    let runs = (activeRuns + waitingRuns).filter { $0.session == session && $0.outcome == nil }
    for run in runs { await abort(run, reason: "rpc") }
    return runs.map(\.id)
  }

  /// Notes a message and its run, which waits for its turn.
  func begin(
    _ key: String, _ session: SessionKey, _ message: String, seconds: Double?, _ client: Int?
  ) async throws -> Run {
    guard settings.command != nil else {
      throw GatewayFault.unavailable("no reply command is set (see agent-serve --reply-command)")
    }
    try checkIsOpen()
    let waiting = waitingRuns.reduce(message.utf8.count) { $0 + $1.message.utf8.count }
    if waitingRuns.count >= Self.queueLimit || waiting > Self.queueBytes {
      throw GatewayFault.unavailable("too many messages wait", retryAfter: 5000)
    }
    let run = Run(
      id: key, session: session, message: message,
      seconds: seconds.flatMap { $0 > 0 ? $0 : nil } ?? Double(Self.replySeconds))
    if let client { run.members.insert(client) }
    runs[key] = run
    do {
      try await keep("user", message, session)
    } catch {
      runs[key] = nil
      throw error
    }
    if run.outcome == nil {
      // The server may have begun to stop meanwhile, and ended what it knew of.
      if isStopping { await abort(run, reason: "shutdown") } else { waitingRuns.append(run) }
    }
    return run
  }

  /// Makes a reply for who does not follow the events.
  ///
  /// - Returns: the reply as it comes.
  /// - Throws: `GatewayFault`; what SQLite says.
  func reply(
    to message: String, _ session: SessionKey, id: String
  ) async throws -> AsyncStream<Run.Part> {
    let run = try await begin(id, session, message, seconds: nil, nil)
    let (parts, reader) = AsyncStream.makeStream(of: Run.Part.self)
    run.readers.append(reader)
    startRuns()
    return parts
  }

  /// Ends the run of a reader that is gone.
  func abandon(_ id: String) async {
    if let run = runs[id], run.outcome == nil { await abort(run, reason: "disconnected") }
  }

  /// The conversation of a run that is not forgotten.
  func session(of id: String) -> SessionKey? { runs[id]?.session }

  // MARK: - Conversations

  /// Keeps a message, and tells those who follow the conversation.
  ///
  /// - Returns: what the store knows it by.
  @discardableResult
  func keep(_ role: String, _ text: String, _ session: SessionKey) async throws -> Int64 {
    let message = ChatMessage(role: role, text: text, time: Timestamp.now().milliseconds)
    let id = try await store.add(message, to: session.text)
    tell("session.message", ["sessionKey": .text(session.text), "message": message.node]) {
      $0.followed.contains(session)
    }
    tell("sessions.changed", ["sessionKey": .text(session.text), "reason": "message"]) {
      $0.followsSessions
    }
    return id
  }

  /// `sessions.messages.subscribe`.
  func follow(_ key: SessionKey, _ client: Client) throws -> JSONNode {
    guard client.followed.count < 100 || client.followed.contains(key) else {
      throw GatewayFault.invalid("too many subscriptions")
    }
    clients[client.peer.number]?.followed.insert(key)
    return ["subscribed": true, "key": .text(key.text)]
  }

  /// `chat.history`: what was said, and the run that is under way.
  func history(_ params: Params) async throws -> JSONNode {
    let session = try SessionKey(params.text("sessionKey"))
    let offset = params.number("offset") ?? 0
    let page = try await store.chat(
      session.text, offset: offset, limit: params.number("limit") ?? 200)
    let limit = params.number("maxChars")
    let running = (activeRuns + waitingRuns).filter { $0.session == session && $0.outcome == nil }
    return [
      "sessionKey": .text(session.text), "sessionId": .text(page.sessionID),
      "messages": .list(page.messages.map { $0.cut(to: limit).node }),
      "hasMore": .bool(page.hasMore),
      "nextOffset": page.hasMore ? .number(offset + page.messages.count) : .absent,
      // What was sent of its text, so that the deltas that follow fit on.
      "inFlightRun": running.first.map { run in
        ["runId": .text(run.id), "text": .text(run.text.takenText)]
      } ?? .absent,
      "sessionInfo": [
        "hasActiveRun": .bool(!running.isEmpty), "activeRunIds": .texts(running.map(\.id)),
      ],
    ]
  }

  /// `sessions.list`.
  func sessions(_ params: Params) async throws -> JSONNode {
    let now = Timestamp.now().milliseconds
    let since = params.number("activeMinutes").map { now - min($0, 100_000_000) * 60_000 } ?? 0
    let rows = try await store.chatSessions(limit: params.number("limit") ?? 100, since: since)
    let busy = Set((activeRuns + waitingRuns).filter { $0.outcome == nil }.map(\.session.text))
    return [
      "ts": .number(now), "count": .number(rows.count),
      "sessions": .list(
        rows.map { row in
          [
            "key": .text(row.key), "sessionId": .text(row.id), "kind": "direct",
            "updatedAt": .number(row.updated), "hasActiveRun": .bool(busy.contains(row.key)),
            "lastMessagePreview": params.isTrue("includeLastMessage") ? .text(row.last) : .absent,
          ]
        }),
    ]
  }
}

extension ChatMessage {
  /// As a row of the history, and in events.
  var node: JSONNode {
    [
      "role": .text(role), "content": [["type": "text", "text": .text(text)]],
      "timestamp": .number(time),
    ]
  }

  /// With at most so many characters.
  fileprivate func cut(to limit: Int?) -> ChatMessage {
    guard let limit, text.count > limit else { return self }
    return ChatMessage(
      role: role, text: text.prefix(limit) + "\n\u{2026}(truncated)", time: time)
  }
}

extension Run {
  /// What a request for the run is answered with.
  ///
  /// - Throws: the failure of one that failed.
  fileprivate func result() throws(GatewayFault) -> JSONNode {
    if case .failed(let reason, _) = outcome { throw .unavailable(reason) }
    let payload: JSONNode = ["runId": .text(id), "status": .text(status)]
    guard outcome == .reply else { return payload }
    return payload.adding([
      "summary": "completed", "result": ["payloads": [["text": .text(text.text)]]],
    ])
  }

  /// The same without a refusal.
  fileprivate var ending: JSONNode {
    var error: String?
    if case .failed(let reason, _) = outcome { error = reason }
    return [
      "runId": .text(id), "status": .text(status), "error": .text(error),
      "startedAt": .number(started?.milliseconds), "endedAt": .number(ended?.milliseconds),
    ]
  }
}
