import Core
import Records
import Web

/// A line to a gateway that asks a person before it runs something
/// (Agent/OpenClaw/CONTRACT.md 8). What waits is listed at each greeting and followed in
/// between: a gateway gives up at once what nobody listens to.
final class GatewayApprovals: ApprovalLine {
  weak var listener: (any ApprovalListener)?
  private var link: GatewayLink!
  private let origin: RecordOrigin
  /// What is known, by id; those that are over are kept to tell "already" from "late".
  private var known: [String: ApprovalRecord] = [:]
  private var order: [String] = []
  /// Answers that wait for the link, or whose reply was lost with it.
  private var answers: [(ApprovalDecision, (ApprovalAnswer) -> Void)] = []
  private var listing = 0

  private static let most = 4096
  /// What may be answered where the gateway does not say.
  private static let usual = ["allow-once", "allow-always", "deny"]

  init(
    _ client: WebClient, _ keys: GatewayKeys, waits: Bool,
    origin: RecordOrigin, policy: StreamPolicy
  ) {
    self.origin = origin
    link = GatewayLink(
      client, keys,
      wishes: GatewayDoor.Wishes(
        scopes: [.read, .approvals], caps: ["approvals", "exec-approvals", "plugin-approvals"],
        waitsForPairing: waits),
      policy: policy, owner: self)
  }

  func tick(now: Double) -> Double { link.tick(now: now) }
  func stop() { link.stop() }

  // MARK: - What waits

  /// The kinds of approvals, by the first word of their methods and events.
  private enum Kind: String, CaseIterable {
    case exec, plugin

    init?(event: String) {
      guard let word = event.split(separator: ".").first.map(String.init),
        event.hasPrefix("\(word).approval."), let kind = Kind(rawValue: word)
      else { return nil }
      self = kind
    }
  }

  private func list(_ hello: GatewayHello) {
    let kinds = Kind.allCases.filter {
      $0 == .exec || hello.methods.contains("\($0.rawValue).approval.list")
    }
    listing = kinds.count
    var found: Set<String> = []
    for kind in kinds {
      link.call("\(kind.rawValue).approval.list", RecordText()) { [unowned self] reply in
        switch reply {
        case .answer(let payload):
          for row in Self.rows(payload) {
            row.withUnsafeBytes { bytes in
              guard let approval = pending(kind, ScanValue(bytes)) else { return }
              found.insert(approval.id)
              tell(approval)
            }
          }
          listed(found)
        case .refused(let error):
          let problem = GatewayChat.problem(error)
          listener?.approvalsFailed(
            CallFailure("\(kind.rawValue).approval.list", problem.line, problem.status))
        case .late: link.drop("the list of approvals did not come")
        case .lost: break
        }
      }
    }
  }

  private func listed(_ found: Set<String>) {
    listing -= 1
    guard listing == 0 else { return }
    for id in order where known[id]?.state == .pending && !found.contains(id) {
      guard var gone = known[id] else { continue }
      gone.state = .expired
      gone.reason = "no longer waiting when the link was back"
      gone.time = .now()
      tell(gone)
    }
    listener?.approvalsListed()
    let waiting = answers
    answers = []
    for (decision, then) in waiting { send(decision, then) }
  }

  private static func rows(_ payload: ScanValue) -> [[UInt8]] {
    for name in ["approvals", "pending", "requests", "items"] {
      let rows = GatewayLists.elements(name, in: payload)
      if !rows.isEmpty { return rows }
    }
    return []
  }

  /// An approval that waits, from the gateway's object.
  private func pending(_ kind: Kind, _ payload: ScanValue) -> ApprovalRecord? {
    guard payload.isObject, let object = try? JSONValue.parse(payload.bytes),
      let id = object["id"]?.string, !id.isEmpty,
      let raw = try? ScanMembers.value(of: "request", in: payload.bytes)
    else { return nil }
    let request = object["request"]
    var approval = ApprovalRecord(
      origin, id: id, tool: kind.rawValue,
      request: raw.isObject ? Array(raw.bytes) : Array("{}".utf8),
      decisions: request?["allowedDecisions"]?.elements.compactMap(\.string) ?? Self.usual,
      state: .pending, time: Self.time(object["createdAtMs"]))
    approval.thread = request?["sessionKey"]?.string
    approval.summary = request?[either: "commandPreview", "title", "description"]?.string
    approval.expires = Self.time(object["expiresAtMs"])
    return approval
  }

  private static func time(_ value: JSONValue?) -> Timestamp? {
    value?.number.map { Timestamp(milliseconds: Int64($0)) }
  }

  private func tell(_ approval: ApprovalRecord) {
    if let before = known[approval.id] {
      guard before != approval, before.state.mayBecome(approval.state) else { return }
    } else {
      order.append(approval.id)
      if order.count > Self.most { known[order.removeFirst()] = nil }
    }
    known[approval.id] = approval
    listener?.approvalChanged(approval)
  }

  // MARK: - Answering

  func answer(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    if link.hello != nil, listing == 0 {
      send(decision, then)
    } else {
      answers.append((decision, then))
    }
  }

  private func send(_ decision: ApprovalDecision, _ then: @escaping (ApprovalAnswer) -> Void) {
    let approval = known[decision.id]
    let word = Self.word(decision.decision)
    func result(_ result: ApprovalAnswer.Result, _ reason: String? = nil) -> ApprovalAnswer {
      var answer = ApprovalAnswer(
        origin, id: decision.id, decision: word, result: result, time: .now())
      answer.reason = reason
      return answer
    }
    if let approval, approval.state != .pending {
      let (kind, reason) = Self.over(approval, word)
      return then(result(kind, reason))
    }
    guard let allowed = approval?.decisions ?? Optional(Self.usual), allowed.contains(word) else {
      let list = (approval?.decisions ?? Self.usual).joined(separator: ", ")
      return then(result(.refused, "the gateway takes: \(list)"))
    }
    let kind = approval?.tool ?? Kind.exec.rawValue
    let params = RecordText().string("id", decision.id).string("decision", word)
    link.call("\(kind).approval.resolve", params) { [unowned self] reply in
      switch reply {
      case .answer:
        if reply.object?["applied"]?.bool == false {
          let status = reply.object?["approval"]?["decision"]?.string
          then(result(status == word ? .already : .late, status.map { "it was answered: \($0)" }))
        } else {
          then(result(.accepted))
        }
      case .refused(let error): refused(error, decision, word, result, then)
      case .late: then(result(.unknown, "no reply came in time"))
      // Still waiting at the next greeting, it is sent again; the first answer counts.
      case .lost: answers.append((decision, then))
      }
    }
  }

  private func refused(
    _ error: GatewayError, _ decision: ApprovalDecision, _ word: String,
    _ result: (ApprovalAnswer.Result, String?) -> ApprovalAnswer,
    _ then: (ApprovalAnswer) -> Void
  ) {
    let isGone =
      error.code == "APPROVAL_NOT_FOUND" || error.detail == "APPROVAL_NOT_FOUND"
      || error.message.holds("unknown or expired")
    guard isGone else { return then(result(.refused, error.line)) }
    guard let approval = known[decision.id] else { return then(result(.notFound, nil)) }
    if approval.state == .pending {
      // Somebody else was faster, or it was too late; the event that says so is on its way.
      var gone = approval
      gone.state = .expired
      gone.reason = "answered elsewhere, or expired"
      gone.time = .now()
      then(result(.late, gone.reason))
      return
    }
    let (kind, reason) = Self.over(approval, word)
    then(result(kind, reason))
  }

  /// What an answer to something that is over comes to.
  private static func over(
    _ approval: ApprovalRecord, _ word: String
  ) -> (ApprovalAnswer.Result, String?) {
    if approval.decision == word { return (.already, nil) }
    return (.late, approval.decision.map { "it was answered: \($0)" } ?? approval.reason)
  }

  /// The gateway's word for a decision.
  static func word(_ decision: String) -> String {
    switch decision {
    case "approve", "approved", "yes": "allow-once"
    case "reject", "rejected", "denied", "no": "deny"
    default: decision
    }
  }
}

extension GatewayApprovals: GatewayLinkOwner {
  func linkOpened(_ hello: GatewayHello, isFirst: Bool, down: Double?) {
    listener?.approvalLink(.open(place: link.place, isFirst: isFirst, down: down))
    list(hello)
  }

  func linkHeard(_ event: GatewayEvent) {
    guard let kind = Kind(event: event.name) else { return }
    if event.name.hasSuffix(".requested") {
      if let approval = pending(kind, event.payload) { tell(approval) }
    } else if event.name.hasSuffix(".resolved"), let object = event.object,
      let id = object["id"]?.string
    {
      resolved(kind, id, object, event.payload)
    }
  }

  private func resolved(_ kind: Kind, _ id: String, _ object: JSONValue, _ payload: ScanValue) {
    let before = known[id] ?? pending(kind, payload)
    guard var approval = before else { return }
    let decision = object["decision"]?.string
    approval.decision = decision
    approval.by = object["resolvedBy"]?.string
    approval.time = Self.time(object["ts"]) ?? .now()
    switch decision {
    case nil: approval.state = .expired
    case "deny": approval.state = .rejected
    default: approval.state = .approved
    }
    tell(approval)
  }

  func linkMissed(from: Int64, to: Int64) {
    if let hello = link.hello, listing == 0 { list(hello) }
  }

  func linkFaulted(_ reason: String) { listener?.approvalLink(.fault(reason)) }

  func linkLost(_ reason: String, wait: Double) {
    listing = 0
    listener?.approvalLink(.lost(reason, wait: wait))
  }

  func linkWaits(_ words: String, wait: Double) {
    listener?.approvalLink(.waits(words, wait: wait))
  }

  func linkEnded(_ end: StreamEnd) {
    let problem = end.problem
    let waiting = answers
    answers = []
    for (decision, then) in waiting {
      var answer = ApprovalAnswer(
        origin, id: decision.id, decision: Self.word(decision.decision), result: .unknown,
        time: .now())
      answer.reason = problem.line
      then(answer)
    }
    listener?.approvalLink(.ended(problem))
  }
}

extension StreamEnd {
  /// The end of a link, as a problem.
  var problem: AnswerProblem {
    switch self {
    case .failed(let problem): problem
    case .gaveUp(let reason): AnswerProblem(reason, .temporary)
    case .noContent: AnswerProblem("204 No Content", .failure)
    }
  }
}
