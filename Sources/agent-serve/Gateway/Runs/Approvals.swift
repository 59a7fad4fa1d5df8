import Core

/// Something that waits for a person to allow it.
struct Approval {
  let id: String
  /// The asker's object, as events and lists have it.
  let request: [UInt8]
  /// What may be answered.
  let allowed: [ApprovalDecision]
  let created: Timestamp
  let expires: Timestamp
  /// What was decided.
  fileprivate(set) var decision: ApprovalDecision?
  /// Whether it is over without a decision.
  fileprivate(set) var isGone = false
  fileprivate var waiters: [@Sendable (ApprovalDecision?) -> Void] = []
  /// Gives it up when its time is over.
  fileprivate var timer: Task<Void, any Error>?

  /// - Parameters:
  ///   - id: known to nobody yet.
  ///   - request: the asker's object.
  ///   - allowed: what may be answered.
  ///   - created: now.
  ///   - expires: when it is given up.
  init(
    id: String, request: [UInt8], allowed: [ApprovalDecision], created: Timestamp,
    expires: Timestamp
  ) {
    (self.id, self.request, self.allowed) = (id, request, allowed)
    (self.created, self.expires) = (created, expires)
  }

  /// Whether it can still be decided.
  var isPending: Bool { decision == nil && !isGone }

  /// What those who decide are shown.
  var node: JSONNode {
    [
      "id": .text(id), "request": .raw(request), "createdAtMs": .time(created),
      "expiresAtMs": .time(expires),
    ]
  }
}

/// The approvals: those that wait, and for a while those that were decided.
struct Approvals {
  /// How many may wait.
  static let limit = 100
  private static let keptDecisions = 100

  private var all: [Approval] = []

  /// Those that wait, the oldest first.
  var pending: [Approval] { all.filter(\.isPending) }

  /// One by its id.
  func find(_ id: String) -> Approval? { all.first { $0.id == id } }

  /// Adds one.
  mutating func add(_ approval: Approval) {
    all.append(approval)
    let over = all.filter { !$0.isPending }
    if over.count > Self.keptDecisions, let oldest = over.first {
      all.removeAll { $0.id == oldest.id }
    }
  }

  /// Decides about one that waits, or gives it up with nil, and tells those who wait.
  ///
  /// - Returns: whether it was pending.
  mutating func settle(_ id: String, _ decision: ApprovalDecision?) -> Bool {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return false }
    all[index].decision = decision
    all[index].isGone = decision == nil
    let waiters = all[index].waiters
    all[index].waiters = []
    all[index].timer?.cancel()
    all[index].timer = nil
    for waiter in waiters { waiter(decision) }
    return true
  }

  /// Has one given up by a task, which is cancelled when it is decided before.
  mutating func expire(_ id: String, by timer: Task<Void, any Error>) {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return }
    all[index].timer = timer
  }

  /// Calls a function with the decision, nil for none; at once when it was made.
  mutating func wait(_ id: String, _ body: @escaping @Sendable (ApprovalDecision?) -> Void) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return body(nil) }
    if all[index].isPending { all[index].waiters.append(body) } else { body(all[index].decision) }
  }
}
