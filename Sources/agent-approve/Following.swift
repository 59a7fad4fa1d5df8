import Agent
import Core
import Records
import Screen

/// `--list` and `--watch`: what waits for an answer, and what becomes of it.
final class Following: OpenLine {
  private var waiting: [ApprovalRecord] = []
  private var isPrinting = false

  func list() throws(WriteFailure) -> ExitStatus {
    try run { isListed }
    guard isListed else { return try leave(.success) }
    try output.header()
    for approval in waiting { try output.approval(approval) }
    if waiting.isEmpty, output.form == .table, !options.isQuiet {
      diagnostics.tellPerson("nothing waits for an answer: -w shows what the agent asks for")
    }
    return try leave(waiting.isEmpty ? .negative : .success)
  }

  func watch() throws(WriteFailure) -> ExitStatus {
    isPrinting = true
    try run { false }
    return try leave(.success)
  }

  override func changed(_ approval: ApprovalRecord) {
    if isPrinting { return write { () throws(WriteFailure) in try output.approval(approval) } }
    waiting.removeAll { $0.id == approval.id }
    if approval.state == .pending { waiting.append(approval) }
  }
}
