import Core
import Records
import Turns

/// What is known of a gateway's approvals (Agent/OpenClaw/CONTRACT.md 8): lists and events
/// in, records out. No network, no clock.
final class ApprovalBook {
  /// The kinds of approvals, by the first word of their methods and events.
  enum Kind: String, CaseIterable {
    case exec, plugin, question

    /// The method that lists what waits.
    var list: String { "\(prefix).list" }

    /// What its methods and events begin with.
    private var prefix: String { self == .question ? rawValue : "\(rawValue).approval" }

    init?(event: String) {
      guard let kind = Kind.allCases.first(where: { event.hasPrefix("\($0.prefix).") }) else {
        return nil
      }
      self = kind
    }
  }

  enum Fate {
    case unknown
    case waits(ApprovalRecord)
    /// It was decided, or expired; nothing says who was faster where there is no decision.
    case over(decision: String?, reason: String?)
  }

  private let origin: RecordOrigin
  private var known: [String: ApprovalRecord] = [:]
  private var order: [String] = []
  /// The bytes of the requests that are kept.
  private var held = 0
  /// What was decided, by id: also of approvals that were never seen.
  private var decided: [String: String] = [:]
  private var decidedOrder: [String] = []
  private var found: Set<String>?
  /// The lists that were asked for, and the number of the last one that is complete.
  private(set) var (asked, complete) = (0, 0)

  private let (most, mostBytes): (Int, Int)

  /// `most` approvals, and `mostBytes` of their requests, are kept; the oldest go first.
  init(_ origin: RecordOrigin, most: Int = 4096, bytes mostBytes: Int = 64 << 20) {
    self.origin = origin
    self.most = most
    self.mostBytes = mostBytes
  }

  // MARK: - What is asked

  func fate(of id: String) -> Fate {
    if let decision = decided[id] { return .over(decision: decision, reason: known[id]?.reason) }
    guard let approval = known[id] else { return .unknown }
    if approval.state == .pending { return .waits(approval) }
    return .over(decision: approval.decision, reason: approval.reason)
  }

  /// The kind of an approval; of one that was never seen what its id looks like.
  func kind(of id: String) -> Kind {
    known[id].flatMap { Kind(rawValue: $0.tool) } ?? (id.hasPrefix("ask_") ? .question : .exec)
  }

  /// The questions of one that is a question.
  func questions(of id: String) -> [AskedQuestion] {
    guard let request = known[id]?.request, kind(of: id) == .question else { return [] }
    return AskedQuestion.all(in: try? JSONValue.parse(request))
  }

  var nextExpiry: Timestamp? {
    known.values.reduce(nil) { next, approval in
      guard approval.state == .pending, let expires = approval.expires else { return next }
      return next.map { min($0, expires) } ?? expires
    }
  }

  // MARK: - What comes

  /// A list is asked for; what comes until `endList` is not taken for gone.
  func beginList() {
    asked += 1
    found = []
  }

  func dropList() { found = nil }

  func receive(_ kind: Kind, list payload: ScanValue) -> [ApprovalRecord] {
    Self.rows(payload).compactMap { row in
      row.withUnsafeBytes { receive(kind, requested: ScanValue($0)) }
    }
  }

  private static func rows(_ payload: ScanValue) -> [[UInt8]] {
    for name in ["approvals", "pending", "requests", "items", "questions"] {
      let rows = GatewayLists.elements(name, in: payload)
      if !rows.isEmpty { return rows }
    }
    return []
  }

  /// All lists are there: what waited and is in none of them is over.
  func endList(now: Timestamp) -> [ApprovalRecord] {
    defer {
      found = nil
      complete = asked
    }
    guard let found else { return [] }
    return order.compactMap { id in
      found.contains(id) ? nil : expire(id, "it does not wait any more", now: now)
    }
  }

  /// Ends an approval of which is only known that it does not wait.
  func expire(_ id: String, _ reason: String, now: Timestamp) -> ApprovalRecord? {
    guard var gone = known[id], gone.state == .pending, decided[id] == nil else { return nil }
    gone.state = .expired
    gone.reason = reason
    gone.time = now
    return put(gone)
  }

  /// Takes an approval that waits: an element of a list, or the payload of an event.
  func receive(_ kind: Kind, requested payload: ScanValue) -> ApprovalRecord? {
    guard payload.isObject, let object = try? JSONValue.parse(payload.bytes),
      let approval = OpenClawApproval.requested(object, payload, kind.rawValue, origin)
    else { return nil }
    found?.insert(approval.id)
    // A list may be older than the event that decided it.
    return decided[approval.id] == nil ? put(approval) : nil
  }

  /// Nil where nothing changed, or for an approval that was never seen.
  func receive(_ kind: Kind, resolved payload: ScanValue, now: Timestamp) -> ApprovalRecord? {
    guard payload.isObject, let object = try? JSONValue.parse(payload.bytes),
      let end = OpenClawApproval.resolved(object, payload, kind.rawValue, origin, now)
    else { return nil }
    // Nobody is to see what was answered to a question that asks for a secret.
    let isSecret = questions(of: end.id).contains(where: \.isSecret)
    let decision = isSecret ? end.decision.map { _ in "answered" } : end.decision
    if let decision { decide(end.id, decision) }
    guard var approval = known[end.id] ?? (end.request.isEmpty ? nil : end) else { return nil }
    (approval.state, approval.time, approval.by) = (end.state, end.time, end.by)
    approval.decision = decision ?? approval.decision
    approval.reason = end.reason ?? approval.reason
    return put(approval)
  }

  func decide(_ id: String, _ decision: String) {
    if decided[id] != nil { return }
    decided[id] = decision
    decidedOrder.append(id)
    if decidedOrder.count > most { decided[decidedOrder.removeFirst()] = nil }
  }

  private func put(_ approval: ApprovalRecord) -> ApprovalRecord? {
    if let before = known[approval.id] {
      guard before != approval, before.state.mayBecome(approval.state) else { return nil }
      held -= before.request.count
    } else {
      order.append(approval.id)
    }
    known[approval.id] = approval
    held += approval.request.count
    while order.count > most || (held > mostBytes && order.count > 1) {
      held -= known.removeValue(forKey: order.removeFirst())?.request.count ?? 0
    }
    return approval
  }
}
