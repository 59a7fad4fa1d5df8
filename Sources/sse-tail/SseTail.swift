import Core
import Web

/// sse-tail(1): follows an event stream and never loses an event.
@main
enum SseTail {
  static func main() {
    let parsed = TailOptions.table.parseOrExit()
    var diagnostics = Diagnostics(program: "sse-tail")
    do throws(UsageError) {
      let options = try TailOptions(parsed)
      diagnostics.verbose = options.verbose
      Process.exit(follow(options, diagnostics))
    } catch {
      diagnostics.usage(error.problem, TailOptions.table)
    }
  }

  private static func follow(_ options: TailOptions, _ diagnostics: Diagnostics) -> ExitStatus {
    do {
      let settings = try Settings(diagnostics: diagnostics)
      let isNamed = Target.Stream(rawValue: options.target) != nil
      // A URL needs no profile; one that is asked for by name must be there.
      let profile =
        isNamed || options.profile != nil
        ? try settings.profile(options.profile) : (try? settings.profile()) ?? Settings.Profile()
      let target = try Target(options.target, url: profile.url)
      let resume = try options.stateFile.map { path throws(SettingsError) in
        try ResumePoint(path: path, source: target.source)
      }
      let request = try TailRequest(options).make(target, settings: settings, profile: profile)
      guard let client = WebClient(agent: "sse-tail/\(suiteVersion)") else {
        diagnostics.fail("out of memory")
      }
      Signals.watch()
      return Follower(
        options, target: target, request: request, client: client, resume: resume,
        diagnostics: diagnostics
      ).run()
    } catch let error as SettingsError {
      diagnostics.fail(error.message, error.status)
    } catch let error as TargetError {
      diagnostics.fail(error.message)
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}
