import Core

/// What waits for a person to allow it (Agent/OpenClaw/CONTRACT.md 6 and 8).
extension Gateway {
  /// How long an approval may wait by default, milliseconds.
  private static let approvalLifetime = 1_800_000
  /// The longest request, bytes.
  private static let requestLimit = 256 * 1024

  /// `exec.approval.resolve`: the first answer wins.
  func resolve(_ params: Params, _ client: Client) throws -> JSONNode {
    let id = params.text("id")
    guard let approval = approvals.find(id),
      let decision = ApprovalDecision(rawValue: params.text("decision"))
    else { throw GatewayFault.noApproval(protocol: client.version) }
    // Who says the same again, perhaps because the answer was lost, is right.
    if approval.decision == decision { return ["ok": true] }
    guard approval.isPending else { throw GatewayFault.noApproval(protocol: client.version) }
    guard approval.allowed.contains(decision) else {
      throw GatewayFault.invalid("\(decision.rawValue) is not allowed for this approval")
    }
    _ = approvals.settle(id, decision)
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
  func ask(_ params: Params, _ request: GatewayRequest, _ client: Client) throws {
    guard let given = request.params, given["command"] != nil || given["commandArgv"] != nil else {
      throw GatewayFault.invalid("invalid exec.approval.request params: no command")
    }
    let own: Set = ["id", "timeoutMs", "twoPhase", "env"]
    let members = given.members.filter { !own.contains($0.name) }
    let object = JSONNode.object(members.map { ($0.name, .value($0.value)) })
    let allowed = given["allowedDecisions"]?.elements.compactMap(\.string)
    let id = params.text("id")
    let approval = try approve(
      object, id: id.isEmpty ? nil : id, lifetime: params.number("timeoutMs"),
      allowed: allowed?.compactMap(ApprovalDecision.init(rawValue:)), asker: client.peer.number)
    let (peer, name) = (client.peer, request.id)
    let known: JSONNode = [
      "id": .text(approval.id), "createdAtMs": .time(approval.created),
      "expiresAtMs": .time(approval.expires),
    ]
    if params.isTrue("twoPhase") {
      peer.send(GatewayFrame.answer(name, known.adding(["status": "accepted"])))
    }
    approvals.wait(approval.id, peer.number) { decision in
      let payload = known.adding(["decision": decision.map { .text($0.rawValue) } ?? .null])
      peer.send(GatewayFrame.answer(name, payload))
    }
  }

  /// `exec.approval.waitDecision`.
  func waitForDecision(_ params: Params, _ request: GatewayRequest, _ client: Client) throws {
    guard let approval = approvals.find(params.text("id")) else {
      throw GatewayFault.noApproval(protocol: client.version)
    }
    if approval.isCrowded { throw GatewayFault.invalid("too many wait for this approval") }
    // The approval itself would bring along all who waited before.
    let (peer, name, id) = (client.peer, request.id, approval.id)
    let (created, expires) = (approval.created, approval.expires)
    approvals.wait(id, peer.number) { decision in
      let payload: JSONNode = [
        "id": .text(id), "decision": decision.map { .text($0.rawValue) } ?? .null,
        "createdAtMs": .time(created), "expiresAtMs": .time(expires),
      ]
      peer.send(GatewayFrame.answer(name, payload))
    }
  }

  /// Asks whether a reply may be made.
  ///
  /// - Returns: why it may not; nil when it may.
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

  /// Gives up an approval that nobody needs any more.
  func cancelApproval(_ id: String) { _ = approvals.settle(id, nil) }

  /// Adds an approval and shows it to those who can decide. Where there are none of
  /// them, it is over at once.
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
    let isSeen = clients.contains { number, client in
      number != asker && Scope.approvals.isReached(by: client.scopes)
    }
    guard isSeen else {
      _ = approvals.settle(approval.id, nil)
      return approval
    }
    broadcast("exec.approval.requested", scope: .approvals, approval.node)
    let timer = Task {
      try await Poller.sleep(for: .milliseconds(milliseconds))
      _ = approvals.settle(approval.id, nil)
    }
    approvals.expire(approval.id, by: timer)
    return approval
  }
}
