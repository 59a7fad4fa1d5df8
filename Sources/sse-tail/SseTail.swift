import Agent
import CLibc
import Core
import Web

/// sse-tail(1): follows an event stream and never loses an event.
@main
enum SseTail {
  static func main() {
    let options = TailOptions.table.parseOrExit(TailOptions())
    let diagnostics = Diagnostics(program: "sse-tail", verbose: options.follow.isVerbose)
    Process.exit(follow(options, diagnostics))
  }

  private static func follow(_ options: TailOptions, _ diagnostics: Diagnostics) -> ExitStatus {
    do throws(SettingsError) {
      let settings = try Settings()
      let profile = try profile(options, settings)
      // A fault of the profile in use is an error, told once; others are warnings.
      settings.configuration.report(to: diagnostics)
      if let stream = DashboardStream(rawValue: options.target) {
        try profile?.require(stream == .voice ? .voice : .follow, for: "sse-tail")
      }
      let target = try Target(options.target, url: profile?.url, profile: profile?.name)
      // Taken first: the state is that of one process, too.
      let archive = try options.archive.map { path throws(SettingsError) in
        try Archive(path, now: .now())
      }
      let resume = try options.stateFile.map { path throws(SettingsError) in
        try ResumePoint(path: path, source: target.source)
      }
      let (request, backend) = try TailRequest(options).make(
        target, settings: settings, profile: profile)
      let client = try options.access.client("sse-tail")
      EndSignals.watch()
      var stream = FollowedStream(request, backend)
      // What is in the archive is nearer to the truth than what was saved beside it.
      let known = archive?.lastEventID ?? resume?.state.lastEventID ?? ""
      stream.lastEventID = options.lastEventID ?? known
      stream.resume = resume
      if let followed = target.stream, let base = target.base {
        stream.usualSilence = DashboardStream.usualSilence
        stream.continuity = followed.continuity(
          client, request, base: base, resumingAt: resume?.state.newest)
      }
      let loop = FollowLoop(
        options.follow, client: client, output: output(options, archive),
        diagnostics: diagnostics)
      loop.follow(stream)
      return loop.run()
    } catch {
      diagnostics.fail(error.message, error.status)
    }
  }

  private static func output(_ options: TailOptions, _ archive: Archive?) -> EventOutput {
    EventOutput(
      events: options.events, dataOnly: options.dataOnly, receivedAt: options.follow.receivedAt,
      archive: archive)
  }

  /// A stream of the dashboard needs the profile, a URL does not; one that is
  /// asked for by name must be there.
  private static func profile(
    _ options: TailOptions, _ settings: Settings
  ) throws(SettingsError) -> Settings.Profile? {
    if options.access.profile == nil && DashboardStream(rawValue: options.target) == nil {
      return try? settings.profile()
    }
    return try settings.profile(options.access.profile)
  }
}
