import Core

/// One of the records of what an agent does in a conversation.
public enum ConversationRecord: Equatable, Sendable {
  case thread(ThreadRecord)
  case message(MessageRecord)
  case turn(TurnRecord)
  case toolCall(ToolCallRecord)
  case approval(ApprovalRecord)

  /// Reads one line.
  ///
  /// - Parameter line: a record; members that are not known pass.
  /// - Returns: nil for a record of another type, or of somebody else.
  /// - Throws: a fault for what is not a JSON object or lacks what it has to have.
  public init?(reading line: UnsafeRawBufferPointer) throws(RecordFields.Fault) {
    let fields = try RecordFields(line)
    // A backend's own objects may have a type, too; and an action is never a record of ours.
    guard let type = fields["type"]?.string.flatMap({ RecordType(rawValue: $0) }),
      fields["backend"] != nil, fields["created_at"] == nil, fields["createdAt"] == nil
    else { return nil }
    switch type {
    case .thread: self = .thread(try ThreadRecord(reading: fields))
    case .message: self = .message(try MessageRecord(reading: fields))
    case .turn: self = .turn(try TurnRecord(reading: fields))
    case .toolCall: self = .toolCall(try ToolCallRecord(reading: fields))
    case .approval: self = .approval(try ApprovalRecord(reading: fields))
    default: return nil
    }
  }

  /// The record itself.
  public var record: any AgentRecord {
    switch self {
    case .thread(let record): record
    case .message(let record): record
    case .turn(let record): record
    case .toolCall(let record): record
    case .approval(let record): record
    }
  }

  /// The conversation's id; nil for an approval that says none.
  public var thread: String? {
    switch self {
    case .thread(let record): record.id
    case .message(let record): record.thread
    case .turn(let record): record.thread
    case .toolCall(let record): record.thread
    case .approval(let record): record.thread
    }
  }

  /// The turn that it belongs to; of a turn its own id.
  public var turn: String? {
    switch self {
    case .thread: nil
    case .message(let record): record.turn
    case .turn(let record): record.id
    case .toolCall(let record): record.turn
    case .approval(let record): record.turn
    }
  }
}
