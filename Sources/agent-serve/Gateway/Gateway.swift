import Core
import Records

/// The gateway (Agent/OpenClaw/CONTRACT.md): who is connected, what is said, what waits
/// for somebody to decide. It knows one agent, whose replies a command makes.
actor Gateway {
  struct Client {
    let peer: Peer
    let connect: ConnectRequest
    /// 3 or 4.
    let version: Int
    let scopes: Set<Scope>
    let since: Timestamp
    var sequence = 0
    var followsSessions = false
    var followed: Set<SessionKey> = []

    var name: String { connect.displayName ?? connect.clientID }
  }

  /// The longest message of a client, bytes.
  static let messageLimit = 8 << 20
  static let tickInterval = Duration.seconds(15)

  let store: ActionStore
  let options: ServeOptions
  /// What clients must show, nil for a server that is open to its machine.
  let token: AccessToken?
  let diagnostics: Diagnostics
  let started = Timestamp.now()
  var clients: [Int: Client] = [:]
  /// All connections, also of those who are no clients yet.
  private var peers: [Int: Peer] = [:]
  /// The number of the last event, as those who speak protocol 3 count.
  private var sequence = 0
  /// By id.
  var devices: [String: PairedDevice]
  var pairings = PairingRequests()
  var promptedPairing: String?
  var failures = FailureCount()
  /// By idempotency key; those that ended are kept for a while.
  var runs: [String: Run] = [:]
  var endedRuns: [String] = []
  var waitingRuns: [Run] = []
  var activeRuns: [Run] = []
  var approvals = Approvals()
  var repliesAreAllowed = false
  var lastWaiter = 0
  private(set) var isStopping = false

  init(
    _ store: ActionStore, _ options: ServeOptions, token: AccessToken?, diagnostics: Diagnostics
  ) async throws {
    (self.store, self.options, self.token) = (store, options, token)
    self.diagnostics = diagnostics
    devices = Dictionary(
      try await store.pairedDevices().map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  // MARK: - Connections

  func greet(_ peer: Peer) {
    peers[peer.number] = peer
    let challenge: JSONNode = ["nonce": .text(peer.nonce), "ts": .number(peer.greeted)]
    peer.send(Peer.event("connect.challenge", challenge.bytes, sequence: nil))
    if isStopping { peer.close(CloseCode.restart, "service restart") }
  }

  func receive(_ message: [UInt8], from peer: Peer) async {
    let client = clients[peer.number]
    var id = GatewayRequest.id(of: nil)
    var fault: GatewayFault
    do {
      let frame = try GatewayRequest.value(message)
      id = GatewayRequest.id(of: frame)
      let request = try GatewayRequest(frame)
      guard let client else { return try await open(peer, request) }
      return try await receive(request, from: client)
    } catch let refusal as GatewayFault {
      fault = refusal
    } catch {
      diagnostics.errorRarely("gateway", errorText(error))
      fault = .unavailable(client == nil ? "internal error" : errorText(error))
      fault.closeCode = CloseCode.later
    }
    peer.refuse(id, fault)
    if client == nil { peer.close(fault.closeCode, fault.message) }
  }

  /// Takes the first request of a connection, which has to be a good `connect`.
  private func open(_ peer: Peer, _ request: GatewayRequest) async throws {
    guard request.method == "connect" else {
      throw GatewayFault.invalid("invalid handshake: first request must be connect")
    }
    try checkIsOpen()
    let client = try await admit(peer, ConnectRequest(request.params))
    // The client may have gone meanwhile.
    clients[peer.number] = client
    peer.isOpen = true
    peer.answer(request.id, hello(client))
    diagnostics.note(
      "gateway: \(Visible.line(client.connect.clientID)) connected from \(peer.address)")
  }

  private func receive(_ request: GatewayRequest, from client: Client) async throws {
    guard request.method != "connect" else {
      throw GatewayFault.invalid("connect is only valid as the first request")
    }
    guard let method = GatewayMethod.named(request.method) else {
      throw GatewayFault.invalid("unknown method: \(request.method.prefix(80))")
    }
    if let scope = method.scope, !scope.isReached(by: client.scopes) {
      throw GatewayFault.missing(scope)
    }
    try method.check(request.params)
    try await answer(request, client)
  }

  func leave(_ peer: Peer) {
    peers[peer.number] = nil
    clients[peer.number] = nil
    approvals.leave(peer.number)
    for run in runs.values where run.outcome == nil { run.leave(peer.number) }
  }

  // MARK: - Events

  /// Sends an event to everybody whom it concerns.
  func broadcast(_ event: String, scope: Scope?, _ payload: (Client) -> [UInt8]?) {
    sequence += 1
    for (number, client) in clients.sorted(by: { $0.key < $1.key }) {
      if let scope, !scope.isReached(by: client.scopes) { continue }
      guard let bytes = payload(client) else { continue }
      clients[number]?.sequence += 1
      let count = client.version >= 4 ? client.sequence + 1 : sequence
      client.peer.send(Peer.event(event, bytes, sequence: count))
    }
  }

  func broadcast(_ event: String, scope: Scope?, _ payload: JSONNode) {
    let bytes = payload.bytes
    broadcast(event, scope: scope) { _ in bytes }
  }

  /// Sends an event to some clients alone; it is not part of the count.
  func tell(_ event: String, _ payload: JSONNode, to choice: (Client) -> Bool) {
    let frame = Peer.event(event, payload.bytes, sequence: nil)
    for client in clients.values where choice(client) { client.peer.send(frame) }
  }

  /// Says that the server is there; forgets what is too old. Called at each interval.
  func tick() {
    broadcast("tick", scope: nil, ["ts": .time(.now())])
    forgetEndedRuns()
  }

  // MARK: - The end

  func checkIsOpen() throws(GatewayFault) {
    if isStopping { throw .unavailable("the gateway stops", retryAfter: 1000) }
  }

  func stop() async {
    isStopping = true
    for run in waitingRuns + activeRuns { await abort(run, reason: "shutdown") }
    broadcast("shutdown", scope: nil, ["reason": "service stop", "restartExpectedMs": nil])
    let peers = Array(peers.values)
    for peer in peers { peer.close(CloseCode.restart, "service restart") }
    // A command that does not end by itself is killed by then; a client that does not
    // take the word has had its time.
    for _ in 0..<300 where !activeRuns.isEmpty || !peers.allSatisfy(\.isGone) {
      try? await Poller.sleep(for: .milliseconds(10))
    }
  }
}

extension Gateway {
  func answer(_ request: GatewayRequest, _ client: Client) async throws {
    let reply = Self.reply(to: request, client)
    let payload: JSONNode
    switch request.method {
    case "health": payload = try await wholeHealth()
    case "status": payload = status
    case "system-presence": payload = presence
    // What openclaw(1) looks at in front of the rest: there is no such file.
    case "config.get":
      payload = ["exists": false, "valid": true, "config": .object([]), "issues": []]
    case "agents.list": payload = agents
    case "models.list": payload = ["models": models]
    case "cron.list": payload = ["jobs": [], "total": 0, "offset": 0, "hasMore": false]
    case "chat.send": return try await send(request, client, reply)
    case "chat.abort": payload = try await abort(request)
    case "chat.history": payload = try await history(request)
    case "agent": return try await runAgent(request, client, reply)
    case "agent.wait": return try wait(request, client, reply)
    case "sessions.list": payload = try await sessions(request)
    case "sessions.subscribe", "sessions.unsubscribe":
      let follows = request.method == "sessions.subscribe"
      clients[client.peer.number]?.followsSessions = follows
      payload = ["subscribed": .bool(follows)]
    case "sessions.messages.subscribe":
      payload = try follow(try SessionKey(request.text("key")), client)
    case "sessions.messages.unsubscribe":
      let key = try SessionKey(request.text("key"))
      clients[client.peer.number]?.followed.remove(key)
      payload = ["subscribed": false, "key": .text(key.text)]
    case "exec.approval.list": payload = .list(approvals.pending.map(\.node))
    case "exec.approval.get":
      let approval = try approval(request, client)
      guard approval.isPending else { throw GatewayFault.noApproval(protocol: client.version) }
      payload = approval.node
    case "plugin.approval.list", "openclaw.approval.list": payload = .list([])
    case "approval.get", "approval.resolve":
      let isFirst = approvals.find(request.text("id"))?.isPending == true
      if request.method == "approval.resolve", isFirst { _ = try resolve(request, client) }
      payload = [
        "applied": request.method == "approval.get" ? .absent : .bool(isFirst),
        "approval": try approval(request, client).fate,
      ]
    case "exec.approval.resolve": payload = try resolve(request, client)
    case "exec.approval.request": return try ask(request, client, reply)
    case "exec.approval.waitDecision": return try waitForDecision(request, client, reply)
    case "device.pair.list": payload = pairedDevices
    case "device.pair.approve", "device.pair.reject":
      payload = try await decidePairing(
        request.text("requestId"), approves: request.method == "device.pair.approve")
    default: throw GatewayFault.invalid("unknown method: \(request.method.prefix(80))")
    }
    reply(payload)
  }

  typealias Reply = @Sendable (JSONNode) -> Void

  /// Answers a request. It is not kept for that: its message may be long.
  private static func reply(to request: GatewayRequest, _ client: Client) -> Reply {
    { [peer = client.peer, id = request.id] in peer.answer(id, $0) }
  }

  // MARK: - What there is

  var health: JSONNode {
    [
      "ok": true, "ts": .time(.now()), "uptimeMs": .number(uptime),
      "defaultAgentId": .text(SessionKey.agent), "agents": [["agentId": .text(SessionKey.agent)]],
      "replyCommand": .bool(options.replyCommand != nil),
    ]
  }

  /// The same, with the conversations.
  private func wholeHealth() async throws -> JSONNode {
    let now = Timestamp.now().milliseconds
    let rows = try await store.chatSessions(limit: 1000, since: 0)
    let sessions: JSONNode = [
      "path": "the database of agent-serve", "count": .number(rows.count),
      "recent": .list(
        rows.prefix(5).map { row in
          [
            "key": .text(row.key), "updatedAt": .number(row.updated),
            "age": .number(now - row.updated),
          ]
        }),
    ]
    let agent: JSONNode = [
      "agentId": .text(SessionKey.agent), "isDefault": true, "sessions": sessions,
    ]
    return health.adding(["agents": [agent], "sessions": sessions])
  }

  private var status: JSONNode {
    [
      "version": .text(suiteVersion), "uptimeMs": .number(uptime),
      "clients": .number(clients.count),
      "activeRuns": .number(activeRuns.count), "queuedRuns": .number(waitingRuns.count),
      "pendingApprovals": .number(approvals.pending.count),
    ]
  }

  var presence: JSONNode {
    .list(
      clients.values.sorted { $0.peer.number < $1.peer.number }.map { client in
        [
          "connId": .text("c-\(client.peer.number)"), "deviceId": .text(client.connect.device?.id),
          "host": .text(client.name), "version": .text(client.connect.clientVersion),
          "platform": .text(client.connect.platform), "mode": .text(client.connect.mode),
          "roles": ["operator"], "scopes": .texts(Scope.names(client.scopes)),
          "ts": .time(client.since),
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
    options.replyCommand == nil
      ? [] : [["id": "reply-command", "name": "reply command", "provider": "agent-serve"]]
  }

  private var pairedDevices: JSONNode {
    let now = Timestamp.now().milliseconds
    return [
      "pending": .list(pairings.pending(now: now).map(\.node)),
      "paired": .list(
        devices.values.sorted { ($0.approvedAt, $0.id) < ($1.approvedAt, $1.id) }.map { device in
          device.node.adding(["approvedAtMs": .number(device.approvedAt)])
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

/// What waits for a person to allow it (Agent/OpenClaw/CONTRACT.md 6 and 8).
extension Gateway {
  /// How long an approval may wait by default, milliseconds.
  private static let approvalLifetime = 1_800_000
  /// The longest request, bytes.
  private static let requestLimit = 256 * 1024

  private func approval(
    _ request: GatewayRequest, _ client: Client
  ) throws(GatewayFault) -> Approval {
    if let approval = approvals.find(request.text("id")) { return approval }
    throw .noApproval(protocol: client.version)
  }

  /// `exec.approval.resolve`: the first answer wins.
  func resolve(_ request: GatewayRequest, _ client: Client) throws -> JSONNode {
    let id = request.text("id")
    guard let approval = approvals.find(id),
      let decision = ApprovalDecision(rawValue: request.text("decision"))
    else { throw GatewayFault.noApproval(protocol: client.version) }
    // Who says the same again, perhaps because the answer was lost, is right.
    if approval.decision == decision { return ["ok": true] }
    guard approval.isPending else { throw GatewayFault.noApproval(protocol: client.version) }
    guard approval.allowed.contains(decision) else {
      throw GatewayFault.invalid("\(decision.rawValue) is not allowed for this approval")
    }
    approvals.settle(id, decision, by: client.name)
    broadcast(
      "exec.approval.resolved", scope: .approvals,
      [
        "id": .text(id), "decision": .text(decision.rawValue), "resolvedBy": .text(client.name),
        "ts": .time(.now()), "request": .raw(approval.request),
      ])
    return ["ok": true]
  }

  /// `exec.approval.request`: answers with the decision; before that, where two answers
  /// are wanted, that it waits.
  func ask(_ request: GatewayRequest, _ client: Client, _ reply: @escaping Reply) throws {
    guard let given = request.params, given["command"] != nil || given["commandArgv"] != nil else {
      throw GatewayFault.invalid("invalid exec.approval.request params: no command")
    }
    let own: Set = ["id", "timeoutMs", "twoPhase", "env"]
    let members = given.members.filter { !own.contains($0.name) }
    let object = JSONNode.object(members.map { ($0.name, .value($0.value)) })
    let allowed = given["allowedDecisions"]?.elements.compactMap(\.string)
    let id = request.text("id")
    let approval = try approve(
      object, id: id.isEmpty ? nil : id, lifetime: request.number("timeoutMs"),
      allowed: allowed?.compactMap(ApprovalDecision.init(rawValue:)), asker: client.peer.number)
    if request.isTrue("twoPhase") { reply(approval.head.adding(["status": "accepted"])) }
    wait(for: approval, client, reply)
  }

  private func wait(for approval: Approval, _ client: Client, _ reply: @escaping Reply) {
    // The approval itself would bring along all who waited before.
    approvals.wait(approval.id, client.peer.number) { [head = approval.head] decision in
      reply(head.adding(["decision": decision.map { .text($0.rawValue) } ?? .null]))
    }
  }

  func waitForDecision(_ request: GatewayRequest, _ client: Client, _ reply: @escaping Reply) throws
  {
    let approval = try approval(request, client)
    if approval.isCrowded { throw GatewayFault.invalid("too many wait for this approval") }
    wait(for: approval, client, reply)
  }

  /// Asks whether a reply may be made. Returns why it may not; nil when it may.
  func askForReply(_ run: Run, _ command: String) async -> String? {
    if repliesAreAllowed { return nil }
    let object: JSONNode = [
      "command": .text(command), "commandArgv": .texts(["/bin/sh", "-c", command]),
      "cwd": .text(currentFolder()), "host": "gateway", "security": "allowlist", "ask": "always",
      "agentId": .text(SessionKey.agent), "sessionKey": .text(run.session.text),
      "resolvedPath": "/bin/sh",
      "allowedDecisions": .texts(ApprovalDecision.allCases.map(\.rawValue)),
    ]
    let approval: Approval
    do throws(GatewayFault) {
      approval = try approve(object, id: nil, lifetime: nil, allowed: nil, asker: nil)
    } catch {
      return error.message
    }
    run.approval = approval.id
    let decision = await withCheckedContinuation { continuation in
      approvals.wait(approval.id, nil) { continuation.resume(returning: $0) }
    }
    run.approval = nil
    switch decision {
    case .once: return nil
    case .always:
      repliesAreAllowed = true
      return nil
    case .deny: return "the reply was denied"
    case nil: return "nobody approved the reply: is agent-approve running?"
    }
  }

  /// Shows an approval to those who can decide; without any of them it is over at once.
  private func approve(
    _ object: JSONNode, id: String?, lifetime: Int?, allowed: [ApprovalDecision]?, asker: Int?
  ) throws(GatewayFault) -> Approval {
    let bytes = object.bytes
    if bytes.count > Self.requestLimit { throw .invalid("the request is too long") }
    if approvals.pending.count >= Approvals.limit {
      throw .unavailable("too many approvals wait", retryAfter: 5000)
    }
    if let id, approvals.find(id) != nil { throw .invalid("approval id is already in use") }
    let now = Timestamp.now()
    let milliseconds = lifetime ?? Self.approvalLifetime
    let approval = Approval(
      id: id ?? Base64.random(bytes: 12), request: bytes,
      allowed: allowed.flatMap { $0.isEmpty ? nil : $0 } ?? ApprovalDecision.allCases,
      created: now, expires: now.adding(.milliseconds(milliseconds)))
    approvals.add(approval)
    // Who says that approvals are shown there (Agent/OpenClaw/CONTRACT.md 8.1).
    let isSeen = clients.contains { number, client in
      number != asker && Scope.approvals.isReached(by: client.scopes)
        && client.connect.caps.contains(where: Self.showing.contains)
    }
    guard isSeen else {
      approvals.settle(approval.id, nil)
      return approval
    }
    broadcast("exec.approval.requested", scope: .approvals, approval.node)
    let timer = Task {
      try await Poller.sleep(for: .milliseconds(milliseconds))
      approvals.settle(approval.id, nil)
    }
    approvals.expire(approval.id, by: timer)
    return approval
  }
}

extension Gateway {
  private static let stopWords: Set<String> = ["stop", "/stop", "abort", "/abort", "interrupt"]
  /// How many messages may wait for their turn, and how many bytes they may have together.
  private static let queueLimit = 64
  private static let queueBytes = 32 << 20
  /// How long a reply may take by default, seconds.
  static let replySeconds = 600

  /// `chat.send`: begins a run and says so; a key that is known already begins none.
  func send(_ request: GatewayRequest, _ client: Client, _ reply: @escaping Reply) async throws {
    let key = request.text("idempotencyKey")
    let session = try SessionKey(request.text("sessionKey"))
    if let known = runs[key] { return reply(try known.result()) }
    if Self.stopWords.contains(request.text("message").trimmingBlanks().lowercased()) {
      let ids = await abort(session)
      return reply(["ok": true, "aborted": .bool(!ids.isEmpty), "runIds": .texts(ids)])
    }
    if request.text("queueMode") == "interrupt" { _ = await abort(session) }
    let seconds = request.number("timeoutMs").map { Double($0) / 1000 }
    let run = try await begin(
      key, session, request.text("message"), seconds: seconds, client.peer.number)
    reply(["runId": .text(run.id), "status": "started"])
    startRuns()
  }

  /// `agent`: the same with two answers, the second one at the end.
  func runAgent(_ request: GatewayRequest, _ client: Client, _ reply: @escaping Reply) async throws
  {
    let agent = request.text("agentId")
    if !agent.isEmpty { try SessionKey.check(agent: agent) }
    let given = request.text("sessionKey")
    let session = try given.isEmpty ? SessionKey.main : SessionKey(given)
    let key = request.text("idempotencyKey")
    let run: Run
    if let known = runs[key] {
      if known.isCrowded { throw GatewayFault.invalid("too many wait for this run") }
      run = known
    } else {
      run = try await begin(
        key, session, request.text("message"),
        seconds: request.number("timeout").map(Double.init), client.peer.number)
    }
    reply(["runId": .text(key), "status": "accepted", "acceptedAt": .time(.now())])
    let (peer, id) = (client.peer, request.id)
    atEnd(of: run, peer.number) { run in
      do throws(GatewayFault) { reply(try run.result()) } catch {
        peer.refuse(id, error, payload: run.ending)
      }
    }
    startRuns()
  }

  /// `agent.wait`: answers when a run has ended, or when the time is over.
  func wait(_ request: GatewayRequest, _ client: Client, _ reply: @escaping Reply) throws {
    guard let run = runs[request.text("runId")] else {
      throw GatewayFault(code: "AGENT_RESULT_NOT_FOUND", message: "unknown run")
    }
    if run.isCrowded { throw GatewayFault.invalid("too many wait for this run") }
    let number = atEnd(of: run, client.peer.number) { reply($0.ending) }
    guard run.outcome == nil else { return }
    let limit = min(request.number("timeoutMs") ?? 30_000, 3_600_000)
    run.waiters[number]?.timer = Task { [id = run.id] in
      try await Poller.sleep(for: .milliseconds(limit))
      guard let run = runs[id], run.waiters.removeValue(forKey: number) != nil else { return }
      reply(["runId": .text(id), "status": "timeout"])
    }
  }

  /// `chat.abort`: ends one run of a conversation, or all.
  func abort(_ request: GatewayRequest) async throws -> JSONNode {
    let session = try SessionKey(request.text("sessionKey"))
    let key = request.text("runId")
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

  private var running: [Run] { (activeRuns + waitingRuns).filter { $0.outcome == nil } }

  private func abort(_ session: SessionKey) async -> [String] {
    let runs = running.filter { $0.session == session }
    for run in runs { await abort(run, reason: "rpc") }
    return runs.map(\.id)
  }

  func begin(
    _ key: String, _ session: SessionKey, _ message: String, seconds: Double?, _ client: Int?
  ) async throws -> Run {
    guard options.replyCommand != nil else {
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

  func reply(
    to message: String, _ session: SessionKey, id: String
  ) async throws -> AsyncStream<Run.Part> {
    let run = try await begin(id, session, message, seconds: nil, nil)
    let (parts, reader) = AsyncStream.makeStream(of: Run.Part.self)
    run.readers.append(reader)
    startRuns()
    return parts
  }

  func abandon(_ id: String) async {
    if let run = runs[id], run.outcome == nil { await abort(run, reason: "disconnected") }
  }

  func session(of id: String) -> SessionKey? { runs[id]?.session }

  // MARK: - Conversations

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

  private static let showing: Set = ["approvals", "exec-approvals", "plugin-approvals"]

  /// `chat.history`: what was said, and the run that is under way.
  func history(_ request: GatewayRequest) async throws -> JSONNode {
    let session = try SessionKey(request.text("sessionKey"))
    let offset = request.number("offset") ?? 0
    let page = try await store.chat(
      session.text, offset: offset, limit: request.number("limit") ?? 200)
    let limit = request.number("maxChars")
    let running = running.filter { $0.session == session }
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

  /// What a conversation that nobody has named is called by.
  private static func title(_ words: String) -> String {
    let longest = 60
    let line = words.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.count > longest ? line.prefix(longest - 1) + "\u{2026}" : line
  }

  /// `sessions.list`.
  func sessions(_ request: GatewayRequest) async throws -> JSONNode {
    let now = Timestamp.now().milliseconds
    let since = request.number("activeMinutes").map { now - min($0, 100_000_000) * 60_000 } ?? 0
    let rows = try await store.chatSessions(limit: request.number("limit") ?? 100, since: since)
    let busy = Set(running.map(\.session.text))
    return [
      "ts": .number(now), "count": .number(rows.count),
      "sessions": .list(
        rows.map { row in
          [
            "key": .text(row.key), "sessionId": .text(row.id), "kind": "direct",
            "updatedAt": .number(row.updated), "hasActiveRun": .bool(busy.contains(row.key)),
            "derivedTitle": request.isTrue("includeDerivedTitles")
              ? .text(row.first.map(Self.title)) : .absent,
            "lastMessagePreview": request.isTrue("includeLastMessage") ? .text(row.last) : .absent,
          ]
        }),
    ]
  }
}

extension ChatMessage {
  var node: JSONNode {
    [
      "role": .text(role), "content": [["type": "text", "text": .text(text)]],
      "timestamp": .number(time),
    ]
  }

  fileprivate func cut(to limit: Int?) -> ChatMessage {
    guard let limit, text.count > limit else { return self }
    return ChatMessage(
      role: role, text: text.prefix(limit) + "\n\u{2026}(truncated)", time: time)
  }
}

extension Run {
  fileprivate func result() throws(GatewayFault) -> JSONNode {
    if case .failed(let reason, _) = outcome { throw .unavailable(reason) }
    let payload: JSONNode = ["runId": .text(id), "status": .text(status)]
    guard outcome == .reply else { return payload }
    return payload.adding([
      "summary": "completed", "result": ["payloads": [["text": .text(text.text)]]],
    ])
  }

  fileprivate var ending: JSONNode {
    var error: String?
    if case .failed(let reason, _) = outcome { error = reason }
    return [
      "runId": .text(id), "status": .text(status), "error": .text(error),
      "startedAt": .number(started?.milliseconds), "endedAt": .number(ended?.milliseconds),
    ]
  }
}

extension Gateway {
  /// Decides about a client that wants to come in (Agent/OpenClaw/CONTRACT.md 4 and 5).
  func admit(_ peer: Peer, _ connect: ConnectRequest) async throws -> Client {
    let now = Timestamp.now()
    let admission = Admission(
      nonce: peer.nonce, greeted: peer.greeted, now: now.milliseconds, token: token,
      isLocal: peer.isLocal, asksForDevices: options.asksForDevices)
    let version = try admission.protocolVersion(connect)
    guard connect.role == "operator" else {
      throw GatewayFault.invalid("role \(connect.role): this gateway has no nodes")
    }
    // All who come through a tunnel have one address, that of this machine.
    let name = peer.isLocal ? connect.device?.id ?? "" : peer.address
    if let wait = failures.wait(name, now: now.milliseconds) {
      throw GatewayFault(
        code: "INVALID_REQUEST", message: "unauthorized: too many failed attempts",
        details: [
          "code": "AUTH_RATE_LIMITED", "reason": "rate_limited",
          "recommendedNextStep": "wait_then_retry",
        ], isRetryable: true, retryAfter: wait)
    }
    let key: DeviceKey?
    let known: PairedDevice?
    do throws(GatewayFault) {
      key = try admission.device(connect)
      known = key.flatMap { devices[$0.deviceID] }
      try admission.checkProof(connect, known: known?.token)
    } catch {
      failures.note(name, now: now.milliseconds)
      throw error
    }
    // What shows a device's token may ask for more than the device has.
    if let key, known.map({ !isPart(connect.knownScopes, of: $0.scopes) }) ?? true {
      try await pair(
        wanted(connect, key, known, now), known == nil ? "not-paired" : "scope-upgrade", peer)
    }
    return Client(
      peer: peer, connect: connect, version: version, scopes: connect.knownScopes, since: now)
  }

  func hello(_ client: Client) -> JSONNode {
    let device = client.connect.device.flatMap { devices[$0.id] }
    return [
      "type": "hello-ok", "protocol": .number(client.version),
      "server": ["version": .text(suiteVersion), "connId": .text("c-\(client.peer.number)")],
      "features": [
        "methods": .texts(GatewayMethod.all.map(\.name)), "events": .texts(GatewayMethod.events),
      ],
      "snapshot": [
        "presence": presence, "health": health,
        "stateVersion": ["presence": 1, "health": 1], "uptimeMs": .number(uptime),
        "sessionDefaults": [
          "defaultAgentId": .text(SessionKey.agent), "mainKey": .text(SessionKey.main.name),
          "mainSessionKey": .text(SessionKey.main.text), "scope": "per-sender",
        ],
      ],
      "auth": [
        "role": "operator", "scopes": .texts(Scope.names(client.scopes)),
        "deviceToken": .text(device?.token), "issuedAtMs": .number(device?.approvedAt),
      ],
      "policy": [
        "maxPayload": .number(Self.messageLimit),
        "maxBufferedBytes": .number(options.backlog),
        "tickIntervalMs": .number(Int(Self.tickInterval.components.seconds) * 1000),
      ],
    ]
  }

  /// Milliseconds since the start.
  var uptime: Int { Timestamp.now().milliseconds - started.milliseconds }

  private func isPart(_ wanted: Set<Scope>, of allowed: Set<Scope>) -> Bool {
    wanted.allSatisfy { $0.isReached(by: allowed) }
  }

  private func wanted(
    _ connect: ConnectRequest, _ key: DeviceKey, _ known: PairedDevice?, _ now: Timestamp
  ) -> PairedDevice {
    PairedDevice(
      id: connect.device?.id ?? "", publicKey: Base64.url(key.raw),
      client: connect.clientID, platform: connect.platform, name: connect.displayName,
      scopes: connect.knownScopes.union(known?.scopes ?? []),
      token: known?.token ?? Base64.random(bytes: 32), approvedAt: now.milliseconds)
  }

  // MARK: - Devices

  private func pair(_ device: PairedDevice, _ reason: String, _ peer: Peer) async throws {
    guard devices.count < ActionStore.deviceLimit || devices[device.id] != nil else {
      throw GatewayFault.unavailable("too many devices are paired")
    }
    if peer.isLocal && !options.asksForDevices {
      devices[device.id] = device
      try await store.put(device)
      return
    }
    let now = Timestamp.now().milliseconds
    guard
      let (request, isNew) = pairings.add(device, reason: reason, address: peer.address, now: now)
    else {
      throw GatewayFault.unavailable("too many devices wait to be paired", retryAfter: 60_000)
    }
    if isNew {
      broadcast("device.pair.requested", scope: .pairing, request.node)
      promptForPairing()
    }
    throw GatewayFault(
      code: "NOT_PAIRED", message: "pairing required",
      details: [
        "code": "PAIRING_REQUIRED", "reason": .text(reason), "requestId": .text(request.id),
        "recommendedNextStep": "wait_then_retry", "pauseReconnect": true,
      ])
  }

  /// Decides about a device that waits. Returns nil when it does not wait (any more).
  func decide(_ id: String, approves: Bool) async throws -> PairingRequest? {
    guard let request = pairings.receive(id, now: Timestamp.now().milliseconds) else { return nil }
    if approves {
      try await store.put(request.device)
      devices[request.device.id] = request.device
    }
    broadcast(
      "device.pair.resolved", scope: .pairing,
      [
        "requestId": .text(id), "deviceId": .text(request.device.id),
        "decision": approves ? "approved" : "rejected", "ts": .time(.now()),
      ])
    return request
  }
}

/// What a reply command says of its work: the tools and thoughts of a run, as events of the
/// gateway (Agent/OpenClaw/CONTRACT.md 7). Nothing of it is kept.
extension Gateway {
  func receive(_ lines: [NoteLines.Line], of run: Run) {
    for line in lines {
      run.notes.lines += 1
      do throws(Failure) {
        switch line {
        case .text(let bytes) where bytes.allSatisfy { $0 == 32 || $0 == 9 || $0 == 13 }: break
        case .text(let bytes): try receive(ReplyNote(bytes), of: run)
        case .tooLong: throw .init("longer than \(NoteLines.longest) bytes")
        case .tooMuch:
          throw .init("more than \(NoteLines.most) bytes; the rest is not read")
        }
      } catch {
        complain(error.reason, of: run)
      }
    }
  }

  func endNotes(of run: Run) {
    for (id, name) in run.notes.names.sorted(by: { $0.key < $1.key }) {
      emitTool(
        run, id,
        ["phase": "result", "name": .text(name), "isError": true, "meta": "its end was not told"])
    }
    run.notes.names = [:]
    run.notes.faults?.finish()
  }

  private func complain(_ reason: String, of run: Run) {
    var faults = run.notes.faults ?? FaultLog(diagnostics)
    faults.line("reply command: descriptor 3", run.notes.lines, reason)
    run.notes.faults = faults
  }

  private func receive(_ note: ReplyNote, of run: Run) throws(Failure) {
    switch note {
    case .tool(let tool): try receive(tool, of: run)
    case .usage(let usage): run.notes.usage = usage
    case .thinking(let text):
      let before = run.notes.thought
      run.notes.thought = text
      let delta = text.utf8.starts(with: before.utf8) ? text.dropFirst(before.count) : text[...]
      emit(run, "thinking", ["text": .text(text), "delta": .text(String(delta))])
    }
  }

  private func receive(_ tool: ReplyNote.Tool, of run: Run) throws(Failure) {
    let isOver = run.notes.calls[tool.id]
    if isOver == true { throw .init("that call is over") }
    let name = JSONNode.text(tool.name)
    if isOver == nil {
      if run.notes.calls.count >= RunNotes.mostCalls {
        throw .init("more than \(RunNotes.mostCalls) calls")
      }
      // What was said before it is seen before it.
      flush(run)
      emitTool(run, tool.id, ["phase": "start", "name": name, "args": tool.arguments])
    }
    run.notes.calls[tool.id] = tool.state.isEnd
    run.notes.names[tool.id] = tool.state.isEnd ? nil : tool.name
    let printed: JSONNode =
      tool.output.map { ["content": [["type": "text", "text": .text($0)]]] } ?? .object([])
    guard tool.state.isEnd else {
      guard tool.output != nil else { return }
      return emitTool(run, tool.id, ["phase": "update", "name": name, "partialResult": printed])
    }
    let details: JSONNode =
      tool.exitCode == nil && tool.milliseconds == nil
      ? .absent : ["exitCode": .number(tool.exitCode), "durationMs": .number(tool.milliseconds)]
    emitTool(
      run, tool.id,
      [
        "phase": "result", "name": name, "isError": .bool(tool.state != .succeeded),
        "meta": .text(tool.label), "result": printed.adding(["details": details]),
      ])
  }

  private func emitTool(_ run: Run, _ id: String, _ data: JSONNode) {
    emit(run, "tool", data.adding(["toolCallId": .text("\(run.id)/\(id)")]))
  }
}

extension Gateway {
  func promptForPairing() {
    guard let request = pairings.pending(now: Timestamp.now().milliseconds).first,
      request.id != promptedPairing
    else { return }
    promptedPairing = request.id
    let device = request.device
    let name = device.name.map { " \u{201c}\(Visible.line($0))\u{201d}" } ?? ""
    let scopes = Scope.names(device.scopes).joined(separator: ", ")
    diagnostics.say(
      "device \(device.id.prefix(12))\(name) (\(Visible.line(device.client)), "
        + "\(Visible.line(device.platform))) from \(request.address) wants \(scopes); "
        + "request \(request.id): y or n?")
  }

  /// Takes a line that was typed: `y` or `n` about the device that was shown.
  func answerPairing(_ line: String) async {
    guard let id = promptedPairing else { return }
    let word = line.trimmingBlanks().lowercased()
    guard word == "y" || word == "n" else {
      if !word.isEmpty { diagnostics.say("request \(id): y or n?") }
      return
    }
    do {
      let request = try await decide(id, approves: word == "y")
      let result = request == nil ? "gone" : word == "y" ? "approved" : "rejected"
      diagnostics.say("request \(id): \(result)")
    } catch {
      diagnostics.errorRarely("the store", errorText(error))
    }
    promptedPairing = nil
    promptForPairing()
  }
}

/// The runs: each makes a reply, piece by piece (Agent/OpenClaw/CONTRACT.md 7).
extension Gateway {
  private static let activeLimit = 8
  private static let keptSeconds = 300
  private static let keptRuns = 1000
  private static let flushInterval = Duration.milliseconds(150)

  func startRuns() {
    while activeRuns.count < Self.activeLimit,
      let next = waitingRuns.first(where: { run in
        !activeRuns.contains { $0.session == run.session }
      })
    {
      waitingRuns.removeAll { $0 === next }
      activeRuns.append(next)
      Task { await perform(next) }
    }
  }

  /// Calls a function when a run has ended, at once when it has.
  @discardableResult
  func atEnd(of run: Run, _ peer: Int?, _ body: @escaping (Run) -> Void) -> Int {
    lastWaiter += 1
    if run.outcome == nil {
      run.waiters[lastWaiter] = (peer, body, nil)
    } else {
      body(run)
    }
    return lastWaiter
  }

  func forgetEndedRuns() {
    let old = Timestamp.now().adding(.seconds(-Self.keptSeconds))
    while let id = endedRuns.first,
      endedRuns.count > Self.keptRuns || (runs[id]?.ended).map({ $0 < old }) ?? true
    {
      endedRuns.removeFirst()
      runs[id] = nil
    }
  }

  func abort(_ run: Run, reason: String) async {
    run.process?.stop()
    if let id = run.approval { approvals.settle(id, nil) }
    waitingRuns.removeAll { $0 === run }
    await end(run, .aborted, reason: reason)
  }

  private func perform(_ run: Run) async {
    defer {
      activeRuns.removeAll { $0 === run }
      startRuns()
    }
    guard run.outcome == nil, let command = options.replyCommand else { return }
    let now = Timestamp.now()
    run.started = now
    emit(run, "lifecycle", ["phase": "start", "startedAt": .time(now)])
    if options.asksForReplies {
      // Before anybody is asked: who talks sees what the reply waits for.
      emitCall(run, "start", ["name": "exec", "args": ["command": .text(command)]])
      let refusal = await askForReply(run, command)
      guard run.outcome == nil else { return }
      if let refusal {
        emitCall(run, "result", ["isError": true, "meta": .text(refusal)])
        return await end(run, .failed(refusal, kind: "refusal"), reason: nil)
      }
    }
    emitChat(run, version: 4, ["state": "status", "phase": "starting_model"])
    let process = CommandProcess(
      command,
      environment: [
        "REPLY_RUN": run.id, "REPLY_SESSION": run.session.text, "REPLY_AGENT": SessionKey.agent,
      ], input: Array(run.message.utf8), seconds: run.seconds,
      limit: CommandProcess.replyLimit, takesNotes: true)
    run.process = process
    for await event in process.events {
      switch event {
      case .output(let bytes):
        if run.outcome != nil { continue }
        run.text.add(bytes)
        flushSoon(run)
      case .notes(let lines): if run.outcome == nil { receive(lines, of: run) }
      case .ended(let ending):
        if let reason = ending.complaint { diagnostics.errorRarely("reply command", reason) }
        if options.asksForReplies {
          emitCall(
            run, "result",
            ["isError": .bool(ending.outcome != .reply), "meta": .text(ending.complaint)])
        }
        await end(run, ending.outcome, reason: nil)
      }
    }
    run.process = nil
  }

  /// Ends a run, once: first its text is kept, then all are told.
  private func end(_ run: Run, _ outcome: Run.Outcome, reason: String?) async {
    guard run.outcome == nil else { return }
    run.text.finish()
    flush(run)
    endNotes(of: run)
    run.outcome = outcome
    run.ended = .now()
    // The store has it; a run is known for a while.
    run.message = ""
    let text = run.text.text
    if !text.isEmpty && (outcome == .reply || outcome == .aborted) {
      do { run.kept = try await keep("assistant", text, run.session) } catch {
        diagnostics.errorRarely("the store", errorText(error))
      }
    }
    let ended = JSONNode.number(run.ended?.milliseconds)
    let message: JSONNode = text.isEmpty ? .absent : Self.message(text)
    switch outcome {
    case .reply:
      emit(run, "lifecycle", ["phase": "end", "endedAt": ended])
      emitChat(
        run,
        [
          "state": "final", "message": message, "stopReason": "stop", "usage": run.notes.usage,
        ])
    case .aborted:
      emit(run, "lifecycle", ["phase": "end", "endedAt": ended, "aborted": true])
      emitChat(run, version: 3, ["state": "aborted", "stopReason": .text(reason)])
      emitChat(
        run, version: 4, ["state": "aborted", "message": message, "stopReason": .text(reason)])
    case .failed(let reason, let kind):
      emit(run, "lifecycle", ["phase": "error", "error": .text(reason), "endedAt": ended])
      emitChat(run, version: 3, ["state": "error", "errorMessage": .text(reason)])
      emitChat(
        run, version: 4,
        ["state": "error", "errorMessage": .text(reason), "errorKind": .text(kind)])
    }
    endedRuns.append(run.id)
    let waiters = run.waiters.sorted { $0.key < $1.key }.map(\.value)
    run.waiters = [:]
    for reader in run.readers {
      reader.yield(.ended(outcome, text))
      reader.finish()
    }
    run.readers = []
    for waiter in waiters {
      waiter.timer?.cancel()
      waiter.call(run)
    }
    forgetEndedRuns()
  }

  // MARK: - Text

  private func flushSoon(_ run: Run) {
    // Who gets all of the text each time gets a long one less often.
    let interval = max(Self.flushInterval, .microseconds(run.text.bytes.count))
    let wait = interval - (.now - run.lastFlush)
    if wait <= .zero { return flush(run) }
    guard !run.isFlushPlanned else { return }
    run.isFlushPlanned = true
    Task {
      try? await Poller.sleep(for: wait)
      run.isFlushPlanned = false
      if run.outcome == nil { flush(run) }
    }
  }

  /// Sends what is new: to those who speak protocol 3 all of the text so far; to the
  /// others what is to be appended, and all of it the first time.
  func flush(_ run: Run) {
    guard run.text.hasNews else { return }
    run.lastFlush = .now
    let (delta, replaces) = run.text.take()
    let text = run.text.text
    for reader in run.readers { reader.yield(.text(delta, replaces: replaces)) }
    let change: JSONNode = ["delta": .text(delta), "replace": replaces ? true : .absent]
    run.sequence += 1
    lazy var said = agentEvent(run, "assistant", change.adding(["text": .text(text)])).bytes
    lazy var added = agentEvent(run, "assistant", change).bytes
    broadcast("agent", scope: .read) { $0.version < 4 ? said : added }
    run.sequence += 1
    let base = chatBase(run)
    lazy var whole = base.adding(["state": "delta", "message": Self.message(text)]).bytes
    let next = base.adding([
      "state": "delta", "deltaText": .text(delta), "replace": replaces ? true : .absent,
    ])
    lazy var first = next.adding(["message": Self.message(text)]).bytes
    lazy var later = next.bytes
    broadcast("chat", scope: .read) { client in
      if client.version < 4 { return whole }
      return run.seenBy.insert(client.peer.number).inserted ? first : later
    }
  }

  private static func message(_ text: String) -> JSONNode {
    ChatMessage(role: "assistant", text: text, time: Timestamp.now().milliseconds).node
  }

  // MARK: - Events

  private func chatBase(_ run: Run) -> JSONNode {
    [
      "runId": .text(run.id), "sessionKey": .text(run.session.text), "seq": .number(run.sequence),
      "agentId": .text(SessionKey.agent),
    ]
  }

  private func emitChat(_ run: Run, version: Int? = nil, _ more: JSONNode) {
    run.sequence += 1
    let bytes = chatBase(run).adding(more).bytes
    broadcast("chat", scope: .read) { client in
      version.map { $0 == client.version } ?? true ? bytes : nil
    }
  }

  private func agentEvent(_ run: Run, _ stream: String, _ data: JSONNode) -> JSONNode {
    [
      "runId": .text(run.id), "seq": .number(run.sequence), "stream": .text(stream),
      "ts": .time(.now()), "sessionKey": .text(run.session.text), "data": data,
    ]
  }

  private func emitCall(_ run: Run, _ phase: String, _ more: JSONNode) {
    let base: JSONNode = ["phase": .text(phase), "toolCallId": .text("call-\(run.id)")]
    emit(run, "tool", base.adding(more))
  }

  func emit(_ run: Run, _ stream: String, _ data: JSONNode) {
    run.sequence += 1
    let payload = agentEvent(run, stream, data)
    guard stream == "tool" else { return broadcast("agent", scope: .read, payload) }
    // The tools concern only those who take part and have asked to be told, and those who
    // follow all conversations.
    tell("agent", payload) {
      run.members.contains($0.peer.number) && $0.connect.caps.contains("tool-events")
    }
    tell("session.tool", payload) { $0.followsSessions }
  }
}

extension CommandProcess.Ending {
  fileprivate var outcome: Run.Outcome {
    switch self {
    case .exited(0, _): .reply
    case .stopped: .aborted
    case .late: .failed("the reply command took too long", kind: "timeout")
    default: .failed("reply command: \(complaint ?? "failed")", kind: "unknown")
    }
  }
}

struct SaidReply: Sendable {
  let outcome: Run.Outcome
  let text: String
  var id: Int64?
  var time = Timestamp.now()
}

extension Gateway {
  /// Makes a reply, and waits for its end.
  func wholeReply(
    to message: String, _ session: SessionKey, id: String, seconds: Double
  ) async throws -> SaidReply {
    let run = try await begin(id, session, message, seconds: seconds, nil)
    var isLate = false
    let timer = Task {
      try await Poller.sleep(for: .seconds(seconds))
      isLate = run.outcome == nil
      if isLate { await abort(run, reason: "timeout") }
    }
    startRuns()
    let ended = await withCheckedContinuation { wait in
      atEnd(of: run, nil) { run in
        wait.resume(
          returning: SaidReply(
            outcome: run.outcome ?? .aborted, text: run.text.text, id: run.kept,
            time: run.ended ?? .now()))
      }
    }
    timer.cancel()
    guard isLate else { return ended }
    return SaidReply(outcome: .failed("no reply in time", kind: "timeout"), text: "")
  }
}
