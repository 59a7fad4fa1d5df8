import CLibc
import Core
import Screen
import Shell

/// tmux-attach(1): the agent's terminal on another machine.
@main
enum TmuxAttach {
  static func main() {
    let table = AttachOptions.table
    let parsed = table.parseOrExit()
    var diagnostics = Diagnostics(program: table.program)
    do throws(UsageError) {
      let options = try AttachOptions(parsed)
      diagnostics.verbose = options.verbose
      let status =
        switch options.job {
        case .attach: try AttachCommand.run(options, diagnostics)
        case .list, .watch, .new, .close, .reconcile, .type, .capture:
          try ManageCommand.run(options, diagnostics)
        case .fingerprint, .forget, .authorize, .check: try KeysCommand.run(options, diagnostics)
        }
      exit(status)
    } catch {
      diagnostics.usage(error.problem, table)
    }
  }
}
