import Core

extension Gateway {
  /// Answers a request that has the right form and may be asked, now or later.
  ///
  /// - Throws: `GatewayFault`; what SQLite says.
  func answer(_ request: GatewayRequest, _ client: Client) async throws {
    let params = Params(request.params)
    let payload: JSONNode
    switch request.method {
    case "health": payload = health
    case "status": payload = status
    case "system-presence": payload = presence
    case "agents.list": payload = agents
    case "models.list": payload = ["models": models]
    case "cron.list": payload = ["jobs": [], "total": 0, "offset": 0, "hasMore": false]
    case "chat.send": return try await send(params, request, client)
    case "chat.abort": payload = try await abort(params)
    case "chat.history": payload = try await history(params)
    case "agent": return try await runAgent(params, request, client)
    case "agent.wait": return try wait(params, request, client)
    case "sessions.list": payload = try await sessions(params)
    case "sessions.subscribe", "sessions.unsubscribe":
      let follows = request.method == "sessions.subscribe"
      clients[client.peer.number]?.followsSessions = follows
      payload = ["subscribed": .bool(follows)]
    case "sessions.messages.subscribe":
      payload = try follow(try SessionKey(params.text("key")), client)
    case "sessions.messages.unsubscribe":
      let key = try SessionKey(params.text("key"))
      clients[client.peer.number]?.followed.remove(key)
      payload = ["subscribed": false, "key": .text(key.text)]
    case "exec.approval.list": payload = .list(approvals.pending.map(\.node))
    case "exec.approval.get":
      guard let approval = approvals.find(params.text("id")), approval.isPending else {
        throw GatewayFault.noApproval(protocol: client.version)
      }
      payload = approval.node
    case "exec.approval.resolve": payload = try resolve(params, client)
    case "exec.approval.request": return try ask(params, request, client)
    case "exec.approval.waitDecision": return try waitForDecision(params, request, client)
    case "device.pair.list": payload = pairedDevices
    case "device.pair.approve", "device.pair.reject":
      payload = try await decidePairing(
        params.text("requestId"), approves: request.method == "device.pair.approve")
    default: throw GatewayFault.invalid("unknown method: \(request.method.prefix(80))")
    }
    client.peer.send(GatewayFrame.answer(request.id, payload))
  }

  /// The members of a request, whose form is right.
  struct Params {
    private let value: JSONValue?

    init(_ value: JSONValue?) { self.value = value }

    subscript(_ name: String) -> JSONValue? { value?[name] }

    /// A text; empty when it is not there.
    func text(_ name: String) -> String { value?[name]?.string ?? "" }

    /// A whole number; nil when it is not there.
    func number(_ name: String) -> Int? { value?[name]?.integer.map { Int($0) } }

    /// Whether something is there and true.
    func isTrue(_ name: String) -> Bool { value?[name]?.bool ?? false }
  }

  // MARK: - What there is

  var health: JSONNode {
    [
      "ok": true, "ts": .time(.now()), "uptimeMs": .number(uptime),
      "defaultAgentId": .text(SessionKey.agent), "agents": [["agentId": .text(SessionKey.agent)]],
      "replyCommand": .bool(settings.command != nil),
    ]
  }

  private var status: JSONNode {
    [
      "version": .text(suiteVersion), "uptimeMs": .number(uptime),
      "clients": .number(clients.count),
      "activeRuns": .number(activeRuns.count), "queuedRuns": .number(waitingRuns.count),
      "pendingApprovals": .number(approvals.pending.count),
    ]
  }

  /// Who is connected.
  var presence: JSONNode {
    .list(
      clients.values.sorted { $0.peer.number < $1.peer.number }.map { client in
        [
          "connId": .text("c-\(client.peer.number)"), "deviceId": .text(client.connect.device?.id),
          "host": .text(client.name), "version": .text(client.connect.clientVersion),
          "platform": .text(client.connect.platform), "mode": .text(client.connect.mode),
          "roles": ["operator"], "scopes": .texts(scopeNames(client)), "ts": .time(client.since),
        ]
      })
  }

  private var agents: JSONNode {
    [
      "defaultId": .text(SessionKey.agent), "mainKey": .text(SessionKey.main.name),
      "scope": "per-sender",
      "agents": [
        [
          "id": .text(SessionKey.agent), "name": "agent-serve",
          "identity": ["name": "agent-serve", "emoji": "\u{1f41a}"],
        ]
      ],
    ]
  }

  private var models: JSONNode {
    settings.command == nil
      ? [] : [["id": "reply-command", "name": "reply command", "provider": "agent-serve"]]
  }

  private var pairedDevices: JSONNode {
    let now = Timestamp.now().milliseconds
    return [
      "pending": .list(pairings.pending(now: now).map(\.node)),
      "paired": .list(
        devices.values.sorted { ($0.approvedAt, $0.id) < ($1.approvedAt, $1.id) }.map { device in
          [
            "deviceId": .text(device.id), "publicKey": .text(device.publicKey),
            "displayName": .text(device.name), "platform": .text(device.platform),
            "clientId": .text(device.client), "role": "operator",
            "scopes": .texts(device.scopeNames), "approvedAtMs": .number(device.approvedAt),
          ]
        }),
    ]
  }

  private func decidePairing(_ id: String, approves: Bool) async throws -> JSONNode {
    guard let request = try await decide(id, approves: approves) else {
      throw GatewayFault.invalid("unknown requestId")
    }
    return [
      "requestId": .text(id), "deviceId": .text(request.device.id),
      "device": approves ? request.node : .absent,
    ]
  }
}
