import Agent
import Core
import Records
import Screen

/// agent-approve(1): what an agent may only do when a person allows it.
public func agentApproveMain() {
  ApproveOptions.table.run(ApproveOptions(), verbose: \.isVerbose) { options, diagnostics in
    switch options.task {
    case .list: try Following(options, diagnostics).list()
    case .watch: try Following(options, diagnostics).watch()
    case .ask: try Asking(options, diagnostics).run()
    case .edit(let id): try Editing(options, diagnostics).edit(id)
    case .decide(let decisions): try Answering(options, diagnostics).give(decisions)
    case .read: try Answering(options, diagnostics).read()
    case .readIDs(let decision, let reason):
      try Answering(options, diagnostics).read(as: decision, reason: reason)
    }
  }
}

/// `--list` and `--watch`: what waits for an answer, and what becomes of it.
final class Following: OpenLine {
  private var waiting: [ApprovalRecord] = []
  private var isPrinting = false

  func list() throws(WriteFailure) -> ExitStatus {
    try run { isListed }
    guard isListed else { return try leave(.success) }
    try output.headerOfApprovals()
    for approval in waiting { try output.approval(approval) }
    if waiting.isEmpty {
      output.tellEmpty(
        "nothing waits for an answer: -w shows what the agent asks for", diagnostics)
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
