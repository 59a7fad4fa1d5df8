import Core

struct Approval {
  struct Waiter {
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
  var decision: ApprovalDecision?
  var isGone = false
  /// Who has decided, and when it was over.
  var resolver: String?
  var ended: Timestamp?
  var waiters: [Waiter] = []
  var timer: Task<Void, any Error>?

  var isPending: Bool { decision == nil && !isGone }

  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  var head: JSONNode {
    ["id": .text(id), "createdAtMs": .time(created), "expiresAtMs": .time(expires)]
  }

  var node: JSONNode { head.adding(["request": .raw(request)]) }

  /// How it stands, also behind its end.
  var fate: JSONNode {
    let asked = request.withUnsafeBytes { try? JSONValue.parse($0) }
    func word(_ name: String) -> JSONNode { asked?[name]?.string.map { .text($0) } ?? .null }
    let argv = asked?["commandArgv"]?.elements.compactMap(\.string).joined(separator: " ")
    let status =
      isPending ? "pending" : decision.map { $0 == .deny ? "denied" : "allowed" } ?? "expired"
    return head.adding([
      "status": .text(status),
      "presentation": [
        "kind": "exec", "commandText": .text(asked?["command"]?.string ?? argv ?? ""),
        "commandPreview": word("commandPreview"), "host": word("host"),
        "agentId": word("agentId"), "allowedDecisions": .texts(allowed.map(\.rawValue)),
      ],
      "resolvedAtMs": ended.map { .time($0) } ?? .absent,
      "reason": isPending ? .absent : decision == nil ? "timeout" : "user",
      "decision": .text(decision?.rawValue),
      "source": ["agentId": word("agentId"), "sessionKey": word("sessionKey")],
      "resolver": resolver.map { ["kind": "client", "id": .text($0)] } ?? .absent,
    ])
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

  /// Decides about one that waits, or gives it up with nil, and tells those who wait.
  mutating func settle(_ id: String, _ decision: ApprovalDecision?, by resolver: String? = nil) {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return }
    all[index].decision = decision
    all[index].isGone = decision == nil
    (all[index].resolver, all[index].ended) = (resolver, .now())
    let waiters = all[index].waiters
    all[index].waiters = []
    all[index].timer?.cancel()
    all[index].timer = nil
    for waiter in waiters { waiter.call(decision) }
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
