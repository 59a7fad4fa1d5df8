import Agent
import Core
import Records
import Screen

/// agent-approve(1): what an agent may only do when a person allows it.
public enum AgentApprove {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let options = ApproveOptions.table.parseOrExit(ApproveOptions())
    let diagnostics = Diagnostics(program: "agent-approve", verbose: options.isVerbose)
    do {
      Process.exit(try run(options, diagnostics))
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail((error as? any Reported)?.message ?? "\(error)", status(of: error))
    }
  }

  private static func run(
    _ options: ApproveOptions, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    switch options.task {
    case .list: try Following(options, diagnostics).list()
    case .watch: try Following(options, diagnostics).watch()
    case .ask: try Asking(options, diagnostics).run()
    case .decide(let decisions): try Answering(options, diagnostics).give(decisions)
    case .read: try Answering(options, diagnostics).read()
    case .readIDs(let decision, let reason):
      try Answering(options, diagnostics).read(as: decision, reason: reason)
    }
  }

  private static func status(of error: any Error) -> ExitStatus {
    (error as? any Reported)?.status ?? .failure
  }
}
