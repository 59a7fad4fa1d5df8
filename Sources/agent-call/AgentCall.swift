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

  /// - Throws: `CallFailure`, `WriteFailure`.
  private static func run(
    _ options: CallOptions, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let output = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
    do {
      let caller = try Caller(
        options.access, for: .call, maxTime: options.maxTime, diagnostics: diagnostics)
      let call = Call(
        options: options, caller: caller, output: output, diagnostics: diagnostics)
      let status = try call.run()
      try output.flush()
      return status
    } catch let failure as CallFailure {
      // What came before the failure is good.
      try output.flush()
      throw failure
    }
  }
}
