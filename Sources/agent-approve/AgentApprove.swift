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
      let line = try open(options, diagnostics)
      Process.exit(try run(options, line))
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail((error as? any Reported)?.message ?? "\(error)", status(of: error))
    }
  }

  private static func open(
    _ options: ApproveOptions, _ diagnostics: Diagnostics
  ) throws(SettingsError) -> OpenLine {
    let agent = try AgentAccess(
      options.access, for: .approvals, maxTime: options.reconnect.maxTime,
      diagnostics: diagnostics)
    let line = try agent.profile.kind.backend.approvals(
      of: agent, waits: options.waitsForPairing,
      policy: options.reconnect.policy(usualSilence: nil))
    EndSignals.watch()
    return OpenLine(
      line, client: agent.client, options: options, profile: agent.profile.name,
      output: ApproveOutput(
        form: options.form, look: options.look, isQuiet: options.isQuiet),
      diagnostics: diagnostics)
  }

  private static func run(_ options: ApproveOptions, _ line: OpenLine) throws -> ExitStatus {
    switch options.task {
    case .list: try Following(line).list()
    case .watch: try Following(line).watch()
    case .ask: try Asking(line).run()
    case .decide(let decisions): try Answering(line).give(decisions)
    case .read: try Answering(line).read()
    case .readIDs(let decision, let reason):
      try Answering(line).read(as: decision, reason: reason)
    }
  }

  private static func status(of error: any Error) -> ExitStatus {
    (error as? any Reported)?.status ?? .failure
  }
}
