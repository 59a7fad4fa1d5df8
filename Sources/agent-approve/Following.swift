import Core
import Records

/// `--list` and `--watch`: what waits for an answer, and what becomes of it.
struct Following {
  private let line: OpenLine

  init(_ line: OpenLine) { self.line = line }

  /// Prints what waits.
  func list() throws(WriteFailure) -> ExitStatus {
    var waiting: [ApprovalRecord] = []
    line.onChange = { approval in
      waiting.removeAll { $0.id == approval.id }
      if approval.state == .pending { waiting.append(approval) }
    }
    try line.run { line.isListed }
    guard line.isListed else { return try line.leave(.success) }
    try line.output.header()
    for approval in waiting { try line.output.approval(approval) }
    return try line.leave(waiting.isEmpty ? .negative : .success)
  }

  /// Prints approvals as they come and change, until there is an end.
  func watch() throws(WriteFailure) -> ExitStatus {
    var failure: WriteFailure?
    line.onChange = { [output = line.output] approval in
      do throws(WriteFailure) { try output.approval(approval) } catch { failure = failure ?? error }
    }
    try line.run { failure != nil }
    if let failure { throw failure }
    return try line.leave(.success)
  }
}
