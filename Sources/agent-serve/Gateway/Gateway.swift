import Core

/// What the command line says of the gateway.
struct GatewaySettings: Sendable {
  /// What makes a reply of a message; nil where nothing does.
  let command: String?
  /// Whether each reply needs an approval.
  let asksForReplies: Bool
  /// Whether each new device needs one, also on this machine.
  let asksForDevices: Bool
  /// What clients must show, nil for a server that is open to its machine.
  let token: AccessToken?
  /// How many bytes may wait for a client.
  let backlogLimit: Int
}

/// The gateway (Agent/OpenClaw/CONTRACT.md): who is connected, what is said, what waits
/// for somebody to decide. It knows one agent, whose replies a command makes.
actor Gateway {
  /// A client that is connected.
  struct Client {
    let peer: Peer
    let connect: ConnectRequest
    /// 3 or 4.
    let version: Int
    let scopes: Set<Scope>
    let since: Timestamp
    /// The number of the last event that every client may get.
    var sequence = 0
    /// Whether it wants to know of all conversations.
    var followsSessions = false
    /// The conversations whose messages it wants.
    var followed: Set<SessionKey> = []

    /// What others are told of who it is.
    var name: String { connect.displayName ?? connect.clientID }
  }

  /// The longest message of a client, bytes.
  static let messageLimit = 8 << 20
  /// How often clients are told that the server is there.
  static let tickInterval = Duration.seconds(15)

  let store: ActionStore
  let settings: GatewaySettings
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
  /// The request that a person was shown and has not answered.
  var promptedPairing: String?
  var failures = FailureCount()
  /// By idempotency key; those that ended are kept for a while.
  var runs: [String: Run] = [:]
  /// The keys of the runs that ended, the oldest first.
  var endedRuns: [String] = []
  /// Those that wait for their turn, in their order.
  var waitingRuns: [Run] = []
  /// Those that are worked on.
  var activeRuns: [Run] = []
  var approvals = Approvals()
  var repliesAreAllowed = false
  var lastWaiter = 0
  private(set) var isStopping = false

  /// - Parameters:
  ///   - store: holds devices and messages.
  ///   - settings: what the command line says.
  ///   - diagnostics: says what is worth knowing.
  /// - Throws: what SQLite says.
  init(
    _ store: ActionStore, _ settings: GatewaySettings, diagnostics: Diagnostics
  ) async throws {
    self.store = store
    self.settings = settings
    self.diagnostics = diagnostics
    devices = Dictionary(
      try await store.pairedDevices().map { ($0.id, $0) }, uniquingKeysWith: { $1 })
  }

  // MARK: - Connections

  /// Takes a connection.
  func greet(_ peer: Peer) {
    peers[peer.number] = peer
    let challenge: JSONNode = ["nonce": .text(peer.nonce), "ts": .number(peer.greeted)]
    peer.send(GatewayFrame.event("connect.challenge", challenge.bytes, sequence: nil))
    if isStopping { peer.close(CloseCode.restart, "service restart") }
  }

  /// Takes a message of a connection.
  func receive(_ message: [UInt8], from peer: Peer) async {
    if let client = clients[peer.number] {
      await receive(message, from: client)
    } else {
      await open(peer, message)
    }
  }

  /// Takes the first message of a connection, which has to be a good `connect`.
  private func open(_ peer: Peer, _ message: [UInt8]) async {
    let (id, read) = GatewayRequest.read(message)
    do {
      let request = try read.get()
      guard request.method == "connect" else {
        throw GatewayFault.invalid("invalid handshake: first request must be connect")
      }
      try checkIsOpen()
      let client = try await admit(peer, ConnectRequest(request.params))
      // The client may have gone meanwhile.
      clients[peer.number] = client
      peer.isOpen = true
      peer.send(GatewayFrame.answer(id, hello(client)))
      diagnostics.note(
        "gateway: \(Visible.line(client.connect.clientID)) connected from \(peer.address)")
    } catch let fault as GatewayFault {
      peer.send(GatewayFrame.refusal(id, fault))
      peer.close(fault.closeCode, fault.message)
    } catch {
      diagnostics.errorRarely("gateway", ErrorText.of(error))
      peer.send(GatewayFrame.refusal(id, .unavailable("internal error")))
      peer.close(CloseCode.later, "internal error")
    }
  }

  /// Forgets a connection that is closed.
  func leave(_ peer: Peer) {
    peers[peer.number] = nil
    clients[peer.number] = nil
    approvals.leave(peer.number)
    for run in runs.values where run.outcome == nil { run.leave(peer.number) }
  }

  private func receive(_ message: [UInt8], from client: Client) async {
    let (id, read) = GatewayRequest.read(message)
    let peer = client.peer
    do {
      let request = try read.get()
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
    } catch let fault as GatewayFault {
      peer.send(GatewayFrame.refusal(id, fault))
    } catch {
      diagnostics.errorRarely("gateway", ErrorText.of(error))
      peer.send(GatewayFrame.refusal(id, .unavailable(ErrorText.of(error))))
    }
  }

  // MARK: - Events

  /// Sends an event to everybody whom it concerns.
  ///
  /// - Parameters:
  ///   - scope: who may get it, nil for all.
  ///   - payload: what a client gets, nil for nothing; by default all get the same.
  func broadcast(_ event: String, scope: Scope?, _ payload: (Client) -> [UInt8]?) {
    sequence += 1
    for (number, client) in clients.sorted(by: { $0.key < $1.key }) {
      if let scope, !scope.isReached(by: client.scopes) { continue }
      guard let bytes = payload(client) else { continue }
      clients[number]?.sequence += 1
      let count = client.version >= 4 ? client.sequence + 1 : sequence
      client.peer.send(GatewayFrame.event(event, bytes, sequence: count))
    }
  }

  /// Sends the same event to everybody whom it concerns.
  func broadcast(_ event: String, scope: Scope?, _ payload: JSONNode) {
    let bytes = payload.bytes
    broadcast(event, scope: scope) { _ in bytes }
  }

  /// Sends an event to some clients alone; it is not part of the count.
  func tell(_ event: String, _ payload: JSONNode, to choice: (Client) -> Bool) {
    let frame = GatewayFrame.event(event, payload.bytes, sequence: nil)
    for client in clients.values where choice(client) { client.peer.send(frame) }
  }

  /// Says that the server is there; forgets what is too old. Called at each interval.
  func tick() {
    broadcast("tick", scope: nil, ["ts": .time(.now())])
    forgetEndedRuns()
  }

  // MARK: - The end

  /// - Throws: `GatewayFault` when the server stops.
  func checkIsOpen() throws(GatewayFault) {
    if isStopping { throw .unavailable("the gateway stops", retryAfter: 1000) }
  }

  /// Ends all replies and all connections.
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

  /// How many connections there are.
  var count: Int { clients.count }
}
