import Agent
import Core
import Screen

/// agent-call(1): asks the backend anything, a row per record.
@main
enum AgentCall {
  static func main() {
    let options = CallOptions.table.parseOrExit(CallOptions(now: .now()))
    let diagnostics = Diagnostics(program: "agent-call", verbose: options.verbose)
    do {
      Process.exit(try run(options, diagnostics))
    } catch {
      diagnostics.fail(error, CallOptions.table.usage)
    }
  }

  /// The operation as the agent has it: two kinds of agents may have one of a name.
  private static func operation(
    _ options: CallOptions, of profile: Settings.Profile?
  ) throws -> Operation {
    let backend = (profile?.kind ?? .clanky).backend
    let all = backend.operations + Operation.raw
    guard let operation = all.first(where: { $0.name == options.operation }) else {
      let known = all.map(\.name).joined(separator: ", ")
      throw CallFailure(
        profile?.name ?? "AGENT_URL",
        "\(backend.name) has no \(options.operation); it has \(known)", .failure)
    }
    try options.check(operation)
    return operation
  }

  /// - Throws: `CallFailure`, `UsageError`, `WriteFailure`.
  private static func run(
    _ options: CallOptions, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let output = RowOutput(
      form: options.form, look: options.look, isQuiet: options.arguments.isQuiet)
    do {
      let caller = try Caller(
        options.access, for: .call, maxTime: options.maxTime, diagnostics: diagnostics)
      let operation = try operation(options, of: caller.backend.profile)
      if options.arguments.count == 0 { return .success }
      let status = try operation.run(
        OperationCall(
          operation.name, options.arguments, caller: caller, output: output,
          diagnostics: diagnostics))
      try output.flush()
      return status
    } catch let failure as CallFailure {
      // What came before the failure is good.
      try output.flush()
      throw failure
    }
  }
}
