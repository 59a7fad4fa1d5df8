import Core

extension Gateway {
  /// Decides about a client that wants to come in (Agent/OpenClaw/CONTRACT.md 4 and 5).
  ///
  /// - Throws: `GatewayFault`; what SQLite says.
  func admit(_ peer: Peer, _ connect: ConnectRequest) async throws -> Client {
    let now = Timestamp.now()
    let admission = Admission(
      nonce: peer.nonce, greeted: peer.greeted, now: now.milliseconds, token: settings.token,
      isLocal: peer.isLocal, asksForDevices: settings.asksForDevices)
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
    let proof: Admission.Proof
    do throws(GatewayFault) {
      key = try admission.device(connect)
      known = key.flatMap { devices[$0.deviceID] }
      proof = try admission.proof(connect, known: known?.token)
    } catch {
      failures.note(name, now: now.milliseconds)
      throw error
    }
    if proof == .device, let known, !isPart(connect.knownScopes, of: known.scopes) {
      // The device may have more; its token does not.
      try await pair(wanted(connect, key, known, now), "scope-upgrade", peer)
    } else if let key, known.map({ !isPart(connect.knownScopes, of: $0.scopes) }) ?? true {
      try await pair(
        wanted(connect, key, known, now), known == nil ? "not-paired" : "scope-upgrade", peer)
    }
    return Client(
      peer: peer, connect: connect, version: version, scopes: connect.knownScopes, since: now)
  }

  /// What a client is told when it is in.
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
        "role": "operator", "scopes": .texts(scopeNames(client)),
        "deviceToken": .text(device?.token), "issuedAtMs": .number(device?.approvedAt),
      ],
      "policy": [
        "maxPayload": .number(Self.messageLimit),
        "maxBufferedBytes": .number(settings.backlogLimit),
        "tickIntervalMs": .number(Int(Self.tickInterval.components.seconds) * 1000),
      ],
    ]
  }

  /// Milliseconds since the start.
  var uptime: Int { Timestamp.now().milliseconds - started.milliseconds }

  /// A client's scopes, in the order of `Scope`.
  func scopeNames(_ client: Client) -> [String] {
    Scope.allCases.filter(client.scopes.contains).map(\.rawValue)
  }

  private func isPart(_ wanted: Set<Scope>, of allowed: Set<Scope>) -> Bool {
    wanted.allSatisfy { $0.isReached(by: allowed) }
  }

  /// The device as it would be kept, with the scopes that it has and wants.
  private func wanted(
    _ connect: ConnectRequest, _ key: DeviceKey?, _ known: PairedDevice?, _ now: Timestamp
  ) -> PairedDevice {
    PairedDevice(
      id: connect.device?.id ?? "", publicKey: Base64.url(key?.raw ?? []),
      client: connect.clientID, platform: connect.platform, name: connect.displayName,
      scopes: connect.knownScopes.union(known?.scopes ?? []),
      token: known?.token ?? Base64.random(bytes: 32), approvedAt: now.milliseconds)
  }

  // MARK: - Devices

  /// Lets a device in, or asks for somebody to do so.
  ///
  /// - Throws: `GatewayFault` as long as nobody has.
  private func pair(_ device: PairedDevice, _ reason: String, _ peer: Peer) async throws {
    guard devices.count < ActionStore.deviceLimit || devices[device.id] != nil else {
      throw GatewayFault.unavailable("too many devices are paired")
    }
    if peer.isLocal && !settings.asksForDevices {
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

  /// Decides about a device that waits.
  ///
  /// - Returns: nil when it does not wait (any more).
  /// - Throws: what SQLite says.
  func decide(_ id: String, approves: Bool) async throws -> PairingRequest? {
    guard let request = pairings.take(id, now: Timestamp.now().milliseconds) else { return nil }
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
