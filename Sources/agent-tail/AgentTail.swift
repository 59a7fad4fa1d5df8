import Agent
import Core

/// agent-tail(1): follows one agent or several, and never loses an event.
public enum AgentTail {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let options = AgentTailOptions.table.parseOrExit(AgentTailOptions())
    let diagnostics = Diagnostics(program: "agent-tail", verbose: options.follow.isVerbose)
    Process.exit(
      FollowLoop.run(diagnostics) { () throws(SettingsError) in
        try loop(options, diagnostics)
      })
  }

  private static func loop(
    _ options: AgentTailOptions, _ diagnostics: Diagnostics
  ) throws(SettingsError) -> FollowLoop {
    let loop = try FollowLoop(
      options.follow, options.access,
      output: EventOutput(receivedAt: options.follow.receivedAt), diagnostics: diagnostics)
    var settings = try options.settings()
    settings.limitToken(options.follow.reconnect.maxTime)
    let sources = AgentSources(
      options: options, settings: settings, client: loop.client, program: diagnostics.program)
    var isWhole = true
    if !options.isSeveral { loop.follow(try sources.stream(options.profiles.first)) }
    for name in options.profiles where options.isSeveral {
      do throws(SettingsError) {
        loop.follow(try sources.stream(name))
      } catch {
        // It keeps no other from being followed.
        diagnostics.say(error.message)
        loop.add(error.status)
        isWhole = false
      }
    }
    // A fault of a profile in use is an error, told once; others are warnings.
    if isWhole { settings.configuration.report(to: diagnostics) }
    return loop
  }
}
