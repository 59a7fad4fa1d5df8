import Records
import Screen

struct Mark {
  let sign: String
  let word: String
  let style: Style

  private init(_ sign: String, _ word: String, _ style: Style) {
    (self.sign, self.word, self.style) = (sign, word, style)
  }

  private static let good = Style.positive
  private static let bad = Style(Palette.error, bold: true)
  private static let waits = Style(Palette.warning, bold: true)
  private static let works = Style(Palette.tool, bold: true)

  /// Of a turn; nil for one of which nothing but its parts is known.
  init(_ state: TurnRecord.State?) {
    switch state {
    case .queued: self.init("○", "queued", .dim)
    case .running: self.init("●", "running", Self.works)
    case .paused: self.init("‖", "paused", Self.waits)
    case .completed: self.init("✓", "completed", Self.good)
    case .aborted: self.init("■", "aborted", Style.warning)
    case .failed: self.init("✗", "failed", Self.bad)
    case nil: self.init("·", "turn", .dim)
    }
  }

  init(_ state: ToolCallRecord.State) {
    switch state {
    case .planned: self.init("○", "planned", .dim)
    case .waitingApproval: self.init("?", "waits for approval", Self.waits)
    case .running: self.init("▸", "running", Self.works)
    case .succeeded: self.init("✓", "ok", Self.good)
    case .failed: self.init("✗", "failed", Self.bad)
    case .rejected: self.init("⊘", "rejected", Style.warning)
    }
  }

  init(_ state: ApprovalRecord.State) {
    switch state {
    case .pending: self.init("?", "pending", Self.waits)
    case .approved: self.init("✓", "approved", Self.good)
    case .rejected: self.init("⊘", "rejected", Style.warning)
    case .expired: self.init("⊘", "expired", Style.warning)
    case .cancelled: self.init("⊘", "cancelled", .dim)
    case .executed: self.init("✓", "executed", Self.good)
    }
  }

  init(_ role: MessageRecord.Role) {
    switch role {
    case .user: self.init("»", "user", .bold)
    case .assistant: self.init("«", "assistant", .plain)
    case .system: self.init("·", "system", .dim)
    case .tool: self.init("│", "tool", .dim)
    case .thinking: self.init("~", "thinking", .dim)
    }
  }
}
