import Core
package import Records

// What is new of a record is put into what is known of it: members that are nil leave theirs
// as it is, and an end never turns back. Each says whether anything changed.

extension ThreadRecord {
  mutating func merge(_ new: ThreadRecord) -> Bool {
    let before = self
    title = new.title ?? title
    state = new.state ?? state
    agent = new.agent ?? agent
    participants = new.participants ?? participants
    messages = new.messages ?? messages
    last = new.last ?? last
    return keepTime(new, before)
  }
}

extension MessageRecord {
  /// All but the text.
  mutating func merge(_ new: MessageRecord) -> Bool {
    let before = self
    turn = new.turn ?? turn
    role = new.role
    author = new.author ?? author
    if state != new.state { reason = nil }
    state = new.state
    reason = new.reason ?? reason
    attachments = new.attachments ?? attachments
    isInferred = new.isInferred ?? isInferred
    return keepTime(new, before)
  }
}

extension TurnRecord {
  /// `addsCost`: tokens and dollars are those of a part, and are added.
  mutating func merge(_ new: TurnRecord, addsCost: Bool) -> Bool {
    guard state.mayBecome(new.state) else { return false }
    let before = self
    parent = new.parent ?? parent
    toolCall = new.toolCall ?? toolCall
    agent = new.agent ?? agent
    if state != new.state { reason = nil }
    state = new.state
    reason = new.reason ?? reason
    message = new.message ?? message
    if addsCost {
      if let more = new.usage { usage = usage.map { $0 + more } ?? more }
      if let more = new.cost { cost = (cost ?? 0) + more }
    } else {
      usage = new.usage ?? usage
      cost = new.cost ?? cost
    }
    if let earlier = new.started { started = min(started ?? earlier, earlier) }
    ended = new.ended ?? ended
    milliseconds = new.milliseconds ?? milliseconds
    isInferred = new.isInferred ?? isInferred
    return keepTime(new, before)
  }
}

extension TurnRecord.Usage {
  static func + (a: Self, b: Self) -> Self {
    func sum(_ a: Int?, _ b: Int?) -> Int? {
      guard let a, let b else { return a ?? b }
      return a.addingReportingOverflow(b).overflow ? a : a + b
    }
    return Self(
      inputTokens: sum(a.inputTokens, b.inputTokens),
      outputTokens: sum(a.outputTokens, b.outputTokens))
  }
}

extension ToolCallRecord {
  /// All but what was printed.
  package mutating func merge(_ new: ToolCallRecord) -> Bool {
    guard state.mayBecome(new.state) else { return false }
    let before = self
    turn = new.turn ?? turn
    if !new.tool.isEmpty { tool = new.tool }
    label = new.label ?? label
    arguments = new.arguments ?? arguments
    if state != new.state { reason = nil }
    state = new.state
    reason = new.reason ?? reason
    approval = new.approval ?? approval
    exitCode = new.exitCode ?? exitCode
    milliseconds = new.milliseconds ?? milliseconds
    isTruncated = new.isTruncated ?? isTruncated
    if let earlier = new.started { started = min(started ?? earlier, earlier) }
    ended = new.ended ?? ended
    isInferred = new.isInferred ?? isInferred
    return keepTime(new, before)
  }
}

extension ApprovalRecord {
  mutating func merge(_ new: ApprovalRecord) -> Bool {
    guard state.mayBecome(new.state) else { return false }
    let before = self
    thread = new.thread ?? thread
    turn = new.turn ?? turn
    toolCall = new.toolCall ?? toolCall
    if !new.tool.isEmpty { tool = new.tool }
    risk = new.risk ?? risk
    summary = new.summary ?? summary
    if !new.request.isEmpty { request = new.request }
    if !new.decisions.isEmpty { decisions = new.decisions }
    state = new.state
    decision = new.decision ?? decision
    by = new.by ?? by
    reason = new.reason ?? reason
    expires = new.expires ?? expires
    return keepTime(new, before)
  }
}

extension AgentRecord {
  /// The time is that of what changed: where nothing did, it stays.
  fileprivate mutating func keepTime(_ new: Self, _ before: Self) -> Bool {
    if self == before { return false }
    time = new.time ?? time
    return true
  }
}
