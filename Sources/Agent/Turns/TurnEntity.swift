public import Records

/// Something that a fold knows, and that changed.
public enum TurnEntity {
  case thread(ThreadRecord)
  case message(MessageRecord)
  case turn(TurnRecord)
  case toolCall(ToolCallRecord)
  case approval(ApprovalRecord)
}
