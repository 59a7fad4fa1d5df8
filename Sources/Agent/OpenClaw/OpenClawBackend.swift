import Core
import Records
import Web

/// An OpenClaw gateway (Agent/OpenClaw/CONTRACT.md).
struct OpenClawBackend: AgentBackend {
  let name = "an OpenClaw gateway"
  let has: Set<AgentCapability> = [.follow, .call, .chat, .approvals]
  let isSocket = true

  var operations: [Operation] { GatewayOperations.all }

  /// What a gateway says to whoever stands between (Agent/OpenClaw/CONTRACT.md 5): no word on the token.
  func problem(of answer: ErrorAnswer, from server: AgentServer) -> Failure? {
    guard answer.json?["error"]?["type"]?.string == "proxy_attribution_required" else { return nil }
    return answer.problem(
      "the gateway does not trust the proxy in front of it: name the proxy's address in"
        + " gateway.trustedProxies there", .failure)
  }

  /// Silence is told by the gateway's own ticks, not by a fixed time.
  private static let ticks = Double.infinity
  /// A gateway is back within seconds of its end, and nothing is told meanwhile. Seconds, and the
  /// same with what chance adds is under ten.
  private static let longestWait = 7.0

  func events(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    try wishes.refuseNumber(name)
    try wishes.refuseResume(name)
    let keys = try GatewayKeys(agent)
    // Nothing is kept of a stream that repeats nothing: a state has no use here.
    var stream = FollowedStream(keys.server.base.socketDisplay) { follow in
      GatewayStream(follow, keys, thread: wishes.thread, waits: wishes.waits).run
    }
    stream.judge = { keys.server.problem(of: $0, $1) }
    (stream.usualSilence, stream.longestWait) = (Self.ticks, Self.longestWait)
    return stream
  }

  func chat(
    with agent: AgentAccess, _ wishes: ChatWishes
  ) throws(Failure) -> any ChatLine {
    let policy = wishes.policy
    if !agent.profile.isSocket {
      return Self.isResponses(agent.backend.base)
        ? ResponsesChat(agent, .openclaw, policy: policy)
        : ClaudioChat(agent, .claudio, policy: policy)
    }
    return GatewayChat(
      agent.client, try GatewayKeys(agent), isTalk: wishes.isTalk, waits: wishes.waits,
      origin: agent.origin(.openclaw), policy: Self.gateway(policy))
  }

  /// Whether a URL is that of the OpenResponses endpoint; any other is Claudio's own.
  private static func isResponses(_ address: WebAddress) -> Bool {
    let path = address.display.hasSuffix("/") ? address.display.dropLast() : address.display[...]
    return path.hasSuffix("/v1") || path.hasSuffix("/v1/responses")
  }

  func approvals(
    of agent: AgentAccess, _ wishes: ApprovalWishes, policy: StreamPolicy
  ) throws(Failure) -> any ApprovalLine {
    GatewayApprovals(
      agent.client, try GatewayKeys(agent), wishes, origin: agent.origin(.openclaw),
      policy: Self.gateway(policy))
  }

  private static func gateway(_ policy: StreamPolicy) -> StreamPolicy {
    var policy = policy
    if policy.idleTimeout == nil { policy.idleTimeout = ticks }
    policy.retryCap = longestWait
    return policy
  }
}

extension AgentAccess {
  func origin(_ backend: RecordOrigin.Backend) -> RecordOrigin {
    RecordOrigin(backend, profile: profile.name)
  }
}
