import Core

struct Approval {
  fileprivate struct Waiter {
    /// The connection's number; nil for the gateway itself.
    let peer: Int?
    let call: @Sendable (ApprovalDecision?) -> Void
  }

  private static let mostWaiters = 100

  let id: String
  let request: [UInt8]
  let allowed: [ApprovalDecision]
  let created: Timestamp
  let expires: Timestamp
  fileprivate(set) var decision: ApprovalDecision?
  fileprivate(set) var isGone = false
  /// Who has decided, and when it was over.
  fileprivate(set) var resolver: String?
  fileprivate(set) var ended: Timestamp?
  fileprivate var waiters: [Waiter] = []
  fileprivate var timer: Task<Void, any Error>?

  init(
    id: String, request: [UInt8], allowed: [ApprovalDecision], created: Timestamp,
    expires: Timestamp
  ) {
    (self.id, self.request, self.allowed) = (id, request, allowed)
    (self.created, self.expires) = (created, expires)
  }

  var isPending: Bool { decision == nil && !isGone }

  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  var node: JSONNode {
    [
      "id": .text(id), "request": .raw(request), "createdAtMs": .time(created),
      "expiresAtMs": .time(expires),
    ]
  }

  /// How it stands, also behind its end.
  var fate: JSONNode {
    let asked = request.withUnsafeBytes { try? JSONValue.parse($0) }
    func word(_ name: String) -> JSONNode { asked?[name]?.string.map { .text($0) } ?? .null }
    let argv = asked?["commandArgv"]?.elements.compactMap(\.string).joined(separator: " ")
    let status =
      isPending ? "pending" : decision.map { $0 == .deny ? "denied" : "allowed" } ?? "expired"
    return [
      "id": .text(id), "status": .text(status),
      "presentation": [
        "kind": "exec", "commandText": .text(asked?["command"]?.string ?? argv ?? ""),
        "commandPreview": word("commandPreview"), "host": word("host"),
        "agentId": word("agentId"), "allowedDecisions": .texts(allowed.map(\.rawValue)),
      ],
      "createdAtMs": .time(created), "expiresAtMs": .time(expires),
      "resolvedAtMs": ended.map { .time($0) } ?? .absent,
      "reason": isPending ? .absent : decision == nil ? "timeout" : "user",
      "decision": .text(decision?.rawValue),
      "source": ["agentId": word("agentId"), "sessionKey": word("sessionKey")],
      "resolver": resolver.map { ["kind": "client", "id": .text($0)] } ?? .absent,
    ]
  }
}

/// The approvals: those that wait, and for a while those that were decided.
struct Approvals {
  static let limit = 100
  private static let keptDecisions = 100

  private var all: [Approval] = []

  var pending: [Approval] { all.filter(\.isPending) }

  func find(_ id: String) -> Approval? { all.first { $0.id == id } }

  mutating func add(_ approval: Approval) {
    all.append(approval)
    let over = all.filter { !$0.isPending }
    if over.count > Self.keptDecisions, let oldest = over.first {
      all.removeAll { $0.id == oldest.id }
    }
  }

  /// Decides about one that waits, or gives it up with nil, and tells those who wait. Returns
  /// whether it was pending.
  mutating func settle(
    _ id: String, _ decision: ApprovalDecision?, by resolver: String? = nil
  ) -> Bool {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return false }
    all[index].decision = decision
    all[index].isGone = decision == nil
    (all[index].resolver, all[index].ended) = (resolver, .now())
    let waiters = all[index].waiters
    all[index].waiters = []
    all[index].timer?.cancel()
    all[index].timer = nil
    for waiter in waiters { waiter.call(decision) }
    return true
  }

  mutating func expire(_ id: String, by timer: Task<Void, any Error>) {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return }
    all[index].timer = timer
  }

  /// Calls a function with the decision, nil for none; at once when it was made.
  mutating func wait(
    _ id: String, _ peer: Int?, _ body: @escaping @Sendable (ApprovalDecision?) -> Void
  ) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return body(nil) }
    if all[index].isPending {
      all[index].waiters.append(.init(peer: peer, call: body))
    } else {
      body(all[index].decision)
    }
  }

  mutating func leave(_ peer: Int) {
    for index in all.indices { all[index].waiters.removeAll { $0.peer == peer } }
  }
}
