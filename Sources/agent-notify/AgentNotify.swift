import Core

/// agent-notify(1): tells a person what an agent's records say.
public enum AgentNotify {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let table = NotifyOptions.table
    let options = table.parseOrExit(NotifyOptions())
    let diagnostics = Diagnostics(program: "agent-notify")
    do {
      var loop = try NotifyLoop(options, diagnostics)
      Process.exit(try loop.run())
    } catch {
      diagnostics.fail(error, table.usage)
    }
  }
}
