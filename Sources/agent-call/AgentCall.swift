import CLibc
import Core
import Web

/// agent-call(1): asks the backend anything, a row per record.
@main
enum AgentCall {
  static func main() {
    let table = CallOptions.table
    let parsed = table.parseOrExit()
    var diagnostics = Diagnostics(program: table.program)
    do throws(UsageError) {
      let options = try CallOptions(parsed, now: .now())
      diagnostics.verbose = options.verbose
      Process.exit(run(options, diagnostics))
    } catch {
      diagnostics.usage(error.problem, table)
    }
  }

  private static func run(_ options: CallOptions, _ diagnostics: Diagnostics) -> ExitStatus {
    let output = RowOutput(options)
    do {
      let call = Call(
        options: options, caller: try caller(options, diagnostics), output: output,
        diagnostics: diagnostics)
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

  private static func caller(
    _ options: CallOptions, _ diagnostics: Diagnostics
  ) throws(CallFailure) -> Caller {
    let backend: Backend
    do throws(SettingsError) {
      let settings = try Settings()
      backend = try Backend(
        settings: settings, profile: options.profile, tokenFile: options.tokenFile,
        allowPlaintext: options.allowPlaintext)
      // A fault of the profile in use is an error, told once; others are warnings.
      settings.configuration.report(to: diagnostics)
    } catch {
      throw CallFailure(error)
    }
    if let file = options.authorities, access(file, R_OK) != 0 {
      throw CallFailure(file, systemReason(systemError), .failure)
    }
    let wait = options.maxTime.map { $0 > 0 ? min($0, Caller.connectTime) : Caller.connectTime }
    guard
      let client = WebClient(
        agent: "agent-call/\(suiteVersion)", connectTimeout: wait ?? Caller.connectTime,
        authorities: options.authorities)
    else { throw CallFailure("libcurl", "out of memory", .failure) }
    return Caller(backend, client: client, maxTime: options.maxTime, diagnostics: diagnostics)
  }
}
