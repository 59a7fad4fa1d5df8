import Agent
import Core
import Kinds

/// sse-tail(1): follows an event stream and never loses an event.
public func sseTailMain() {
  TailOptions.table.run(TailOptions(), verbose: \.follow.isVerbose) {
    try follow($0, $1).run()
  }
}

private func follow(_ options: TailOptions, _ diagnostics: Diagnostics) throws(Failure) -> Follow {
  var settings = try Settings()
  settings.limitToken(options.follow.reconnect.maxTime)
  let profile = try settings.profile(
    options.access, isNeeded: DashboardStream(rawValue: options.target) != nil)
  // A fault of the profile in use is an error, told once; others are warnings.
  settings.configuration.report(to: diagnostics)
  if let stream = DashboardStream(rawValue: options.target) {
    try profile?.require(stream == .voice ? .voice : .follow, for: diagnostics.program)
    if let profile, profile.kind != .clanky {
      throw Failure(
        profile.name ?? "AGENT_URL",
        "\(profile.kind.backend.name) has no \(options.target) stream: use agent-tail")
    }
  }
  let target = try Target(options.target, url: profile?.url, profile: profile?.name)
  // Taken first: the state is that of one process, too.
  let archive = try options.archive.map { path throws(Failure) in
    try Archive(path, now: .now())
  }
  let resume = try options.state.map { file throws(Failure) in
    let spare = archive?.lastEventID.map { _ in
      { (fault: Failure) in
        diagnostics.say("\(fault.message); the archive itself says where it ends")
      }
    }
    var point = try ResumePoint(file, source: target.source, spare: spare)
    // What is in the archive is nearer to the truth than what was saved beside it.
    if let id = archive?.lastEventID { point.receive(id, newest: archive?.newest) }
    return point
  }
  let (request, server) = try request(options, target, settings: settings, profile: profile)
  var stream = FollowedStream(request, server, resume: resume)
  if let dashboard = target.dashboard {
    stream = dashboard.stream.followed(request, server, base: dashboard.base, resume: resume)
  }
  stream.lastEventID = options.lastEventID ?? archive?.lastEventID ?? stream.lastEventID
  return Follow(
    options.follow, try options.access.client(diagnostics.program), stream,
    output: EventOutput(
      events: options.events, dataOnly: options.dataOnly,
      receivedAt: options.follow.receivedAt, archive: archive?.folder), diagnostics)
}
