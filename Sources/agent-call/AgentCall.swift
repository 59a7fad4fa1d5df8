import Agent
import Core
import Screen

/// agent-call(1): asks the backend anything, a row per record.
@main
enum AgentCall {
  static func main() {
    let options = CallOptions.table.parseOrExit(CallOptions(now: .now()))
    let diagnostics = Diagnostics(program: "agent-call", verbose: options.verbose)
    Process.exit(run(options, diagnostics))
  }

  private static func run(_ options: CallOptions, _ diagnostics: Diagnostics) -> ExitStatus {
    let output = RowOutput(form: options.form, look: options.look, isQuiet: options.quiet)
    do {
      let caller = try Caller(
        options.access, for: .call, maxTime: options.maxTime, diagnostics: diagnostics)
      let call = Call(
        options: options, caller: caller, output: output, diagnostics: diagnostics)
      let status = try call.run()
      try output.flush()
      return status
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch let failure as CallFailure {
      // What came before the failure is good.
      do throws(WriteFailure) { try output.flush() } catch { diagnostics.fail(writing: error) }
      diagnostics.fail(failure.message, failure.status)
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}
