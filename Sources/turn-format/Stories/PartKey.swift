import Records

/// What a record is about: the same for each that replaces it.
struct PartKey: Hashable {
  enum Kind: Hashable {
    case turn, message, call, approval
  }

  let origin: RecordOrigin
  let kind: Kind
  let id: String

  init(_ origin: RecordOrigin, _ kind: Kind, _ id: String) {
    (self.origin, self.kind, self.id) = (origin, kind, id)
  }

  init?(_ record: ConversationRecord) {
    switch record {
    case .thread: return nil
    case .message(let message): self.init(message.origin, .message, message.id)
    case .turn(let turn): self.init(turn.origin, .turn, turn.id)
    case .toolCall(let call): self.init(call.origin, .call, call.id)
    case .approval(let approval): self.init(approval.origin, .approval, approval.id)
    }
  }
}

extension ConversationRecord {
  var parent: PartKey? {
    if case .turn(let turn) = self { return turn.parent.map { PartKey(turn.origin, .turn, $0) } }
    return turn.map { PartKey(record.origin, .turn, $0) }
  }

  var call: PartKey? {
    switch self {
    case .approval(let approval): approval.toolCall.map { PartKey(approval.origin, .call, $0) }
    case .turn(let turn): turn.toolCall.map { PartKey(turn.origin, .call, $0) }
    default: nil
    }
  }

  func isAnswer(_ state: MessageRecord.State) -> Bool {
    guard case .message(let message) = self else { return false }
    return message.role == .assistant && message.state == state
  }

  /// Whether it is a draft that another message took the place of: it is not shown.
  var isReplaced: Bool {
    guard case .message(let message) = self else { return false }
    return message.state == .aborted && message.reason?.hasPrefix("replaced by ") == true
  }

  /// Whether it is over. Whether ours arrived may never be known.
  var isEnded: Bool {
    switch self {
    case .thread: false
    case .message(let message): message.state.isEnd || message.state == .unconfirmed
    case .turn(let turn): turn.state.isEnd
    case .toolCall(let call): call.state.isEnd
    case .approval(let approval): approval.state.isEnd
    }
  }

  /// An end never turns back.
  func mayBecome(_ next: ConversationRecord) -> Bool {
    switch (self, next) {
    case (.message(let old), .message(let new)): old.state.mayBecome(new.state)
    case (.turn(let old), .turn(let new)): old.state.mayBecome(new.state)
    case (.toolCall(let old), .toolCall(let new)): old.state.mayBecome(new.state)
    case (.approval(let old), .approval(let new)): old.state.mayBecome(new.state)
    default: false
    }
  }
}
