import Agent
import Core
import Kinds
import Screen

/// agent-call(1): asks the backend anything, a row per record.
public func agentCallMain() {
  CallOptions.table.run(CallOptions(now: .now()), verbose: \.verbose, run)
}

private func run(
  _ options: CallOptions, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  let output = RowOutput(
    form: options.form, look: options.look, isQuiet: options.arguments.isQuiet)
  do {
    let caller = try Caller(
      options.access, for: .call, maxTime: options.maxTime, diagnostics: diagnostics)
    let profile = caller.backend.profile
    let operation = try options.operation(
      of: (profile?.kind ?? .clanky).backend, named: profile?.name ?? "AGENT_URL")
    if options.arguments.count == 0 { return .success }
    let status = try operation.run(
      OperationCall(
        operation.name, options.arguments, caller: caller, output: output,
        diagnostics: diagnostics))
    try output.flush()
    return status
  } catch let failure as Failure {
    // What came before the failure is good.
    try output.flush()
    throw failure
  }
}
