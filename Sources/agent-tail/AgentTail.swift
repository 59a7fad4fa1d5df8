import Agent
import CLibc
import Core
import Web

/// agent-tail(1): follows one agent or several, and never loses an event.
@main
enum AgentTail {
  static func main() {
    let options = AgentTailOptions.table.parseOrExit(AgentTailOptions())
    let diagnostics = Diagnostics(program: "agent-tail", verbose: options.follow.isVerbose)
    Process.exit(follow(options, diagnostics))
  }

  private static func follow(
    _ options: AgentTailOptions, _ diagnostics: Diagnostics
  ) -> ExitStatus {
    do throws(SettingsError) {
      let client = try options.access.client("agent-tail")
      let output = EventOutput(receivedAt: options.follow.receivedAt)
      let loop = FollowLoop(
        options.follow, client: client, output: output, diagnostics: diagnostics)
      let settings = try options.settings()
      let sources = AgentSources(options, settings: settings, client: client)
      var isWhole = true
      if !options.isSeveral { loop.follow(try sources.stream(options.profiles.first)) }
      for name in options.profiles where options.isSeveral {
        do throws(SettingsError) {
          loop.follow(try sources.stream(name))
        } catch {
          // It keeps no other from being followed.
          diagnostics.about(name).say(error.message)
          loop.add(error.status)
          isWhole = false
        }
      }
      // A fault of a profile in use is an error, told once; others are warnings.
      if isWhole { settings.configuration.report(to: diagnostics) }
      EndSignals.watch()
      return loop.run()
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }
}
