import CLibc
import Core
import Screen
import Web

/// voice-state(1): what the agent does in voice.
@main
enum VoiceStateCommand {
  static func main() {
    let table = StateOptions.table
    var diagnostics = Diagnostics(program: table.program)
    let options: StateOptions
    do throws(UsageError) {
      options = try StateOptions(table.parseOrExit())
    } catch {
      diagnostics.usage(error.problem, table)
    }
    diagnostics.verbose = options.isVerbose
    Process.exit(run(options, diagnostics))
  }

  private static func run(_ options: StateOptions, _ diagnostics: Diagnostics) -> ExitStatus {
    do {
      switch options.subject {
      case .records(let file):
        let records = Records(options: options, diagnostics: diagnostics, file: file)
        return try options.watches ? records.watch() : records.once()
      case .history:
        return try History(options: options, diagnostics: diagnostics)
          .run(Query(options, diagnostics))
      case .replay(let session):
        return try Replay(options, diagnostics).run(Query(options, diagnostics), session)
      case .backend:
        let query = try Query(options, diagnostics)
        guard options.watches else { return try Once(options, diagnostics).run(query) }
        return try StreamWatch(Watch.make(options, diagnostics), query).run()
      }
    } catch let error as SettingsError {
      diagnostics.fail(error.message, error.status)
    } catch let failure as QueryFailure {
      diagnostics.error(failure.what, failure.reason)
      return failure.status
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch let fault as ScanFault {
      diagnostics.fail("the backend's answer: \(fault.reason)")
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}
