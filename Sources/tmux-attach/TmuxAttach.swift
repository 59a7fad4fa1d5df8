import Core
import Screen
import Shell

/// tmux-attach(1): the agent's terminal on another machine.
@main
enum TmuxAttach {
  static func main() {
    let table = AttachOptions.table
    let parsed = table.parseOrExit()
    let diagnostics = Diagnostics(program: table.program)
    do throws(UsageError) {
      let options = try AttachOptions(parsed)
      _ = options
      diagnostics.fail("not built yet")
    } catch {
      diagnostics.usage(error.problem, table)
    }
  }
}
