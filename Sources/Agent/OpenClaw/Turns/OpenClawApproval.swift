public import Core
public import Records

/// What a gateway tells of approvals, as records (CONTRACT.md 8).
public enum OpenClawApproval {
  /// What may be answered where the gateway does not say.
  private static let usual = ["allow-once", "allow-always", "deny"]

  /// One that waits; nil for what is none.
  ///
  /// - Parameters:
  ///   - payload: the event's, or an element of a list.
  ///   - tool: `exec`, `plugin` or `question`.
  public static func requested(
    _ payload: JSONValue, _ raw: ScanValue, _ tool: String, _ origin: RecordOrigin
  ) -> ApprovalRecord? {
    guard let id = payload["id"]?.string, !id.isEmpty else { return nil }
    // What the gateway says of a question is the request.
    let questions = tool == AskedQuestion.tool ? AskedQuestion.all(in: payload) : nil
    let bytes = questions == nil ? try? ScanMembers.value(of: "request", in: raw.bytes) : raw
    guard let bytes, bytes.isObject, let json = bytes.json, questions?.isEmpty != true else {
      return nil
    }
    let request = questions == nil ? payload["request"] : payload
    let allowed = request?["allowedDecisions"]
    var decisions =
      allowed?.kind == .array ? allowed?.elements.compactMap(\.string) ?? [] : usual
    if let questions {
      decisions = (questions.count == 1 ? questions[0].choices.map(\.label) : []) + ["deny"]
    }
    var approval = ApprovalRecord(
      origin, id: id, tool: tool, request: json, decisions: decisions, state: .pending,
      time: payload["createdAtMs"]?.instant)
    approval.thread = request?["sessionKey"]?.string
    approval.turn = request?["runId"]?.string
    approval.toolCall = questions == nil ? request?["toolCallId"]?.string : nil
    approval.summary =
      questions?.map(\.line).joined(separator: "; ")
      ?? request?[either: "commandPreview", "title", "description"]?.string
    approval.expires = payload["expiresAtMs"]?.instant
    return approval
  }

  /// What was answered to the questions of a payload; nil where nothing was.
  public static func answers(_ payload: JSONValue?) -> String? {
    guard let answers = payload?["answers"]?["answers"], answers.isObject,
      !AskedQuestion.all(in: payload).contains(where: \.isSecret)
    else { return nil }
    return AskedQuestion.line(answers.members.map { $0.value.elements.compactMap(\.string) })
  }

  /// One that is over; its request is empty where the gateway does not repeat it.
  ///
  /// - Parameter received: when it came, for a gateway that does not say when it was.
  public static func resolved(
    _ payload: JSONValue, _ raw: ScanValue, _ tool: String, _ origin: RecordOrigin,
    _ received: Timestamp?
  ) -> ApprovalRecord? {
    guard let id = payload["id"]?.string, !id.isEmpty else { return nil }
    let decision = payload[either: "decision", "status"]?.string
    var approval =
      requested(payload, raw, tool, origin)
      ?? ApprovalRecord(
        origin, id: id, tool: tool, request: [], decisions: [], state: .pending, time: nil)
    approval.state = state(decision, by: payload["resolvedBy"])
    approval.time = payload["ts"]?.instant ?? received
    approval.by = payload["resolvedBy"]?.string
    if approval.state == .approved || approval.state == .rejected {
      approval.decision = answers(payload) ?? decision
    } else {
      approval.reason = approval.by == ended ? "its run was ended" : decision
    }
    return approval
  }

  /// Who resolves what a run has asked that is over.
  private static let ended = "approval-scope-closed"

  private static func state(_ decision: String?, by: JSONValue?) -> ApprovalRecord.State {
    switch decision {
    // A late gateway denies in nobody's name what nobody has answered in time.
    case "deny" where by?.isNull == true: .expired
    case _ where by?.string == ended: .cancelled
    case "allow-once", "allow-always", "allowed", "answered": .approved
    case "deny", "denied": .rejected
    case nil, "expired", "timeout": .expired
    // Never more than is known: nothing is approved by a word that means who knows what.
    default: .cancelled
    }
  }
}
