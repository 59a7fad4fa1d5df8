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
