import Agent
import Core
import Kinds
import Web

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

/// What each connection says anew, or the body does.
private let own = [
  "last-event-id": "changes with each event: use --last-event-id",
  "content-length": "follows from --data", "transfer-encoding": "follows from --data",
]
private let ownOfDashboard = ["x-last-event-time": "changes with each event: see --state"]

func request(
  _ options: TailOptions, _ target: Target, settings: Settings, profile: Settings.Profile?
) throws(Failure) -> (request: Request, server: AgentServer) {
  var request = Request(target.address, method: options.method ?? "GET")
  if target.dashboard == nil { request.unquotable = target.address.queryValues }
  request.privateHeaders = try RequestArguments.headers(options.headers)
  try RequestArguments.refuse(request.privateHeaders, own)
  if target.dashboard != nil {
    try RequestArguments.refuse(request.privateHeaders, ownOfDashboard)
  }
  if let data = options.data {
    let body = try RequestArguments.data(data)
    request.body = body
    if options.method == nil { request.method = "POST" }
    if !request.privateHeaders.contains(where: { $0.isNamed("Content-Type") }) {
      let isJSON = body.withUnsafeBytes { ScanValidator.isValue($0) }
      let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
      request.headers.append(Header("Content-Type", type))
    }
  }
  let server = try RequestArguments.authorize(
    &request, settings: settings, profile: profile, access: options.access,
    isProfiles: target.dashboard != nil)
  return (request, server)
}

struct Target {
  let dashboard: (stream: DashboardStream, base: WebAddress)?
  let address: WebAddress

  /// What a state file is bound to: the stream and its profile, for the name of
  /// a tunnel changes; without one, the URL without its query.
  let source: String

  init(_ text: String, url: String?, profile: String? = nil) throws(Failure) {
    if let stream = DashboardStream(rawValue: text) {
      guard let url else { throw Failure(text, "no url: \(Settings.Profile.howToName)") }
      let base = try Failure.rethrowing(try WebAddress(url)) {
        Failure(Settings.Profile.placeOfURL, $0.reason)
      }
      dashboard = (stream, base)
      address = try stream.address(at: base)
      source = stream.source(profile: profile, address: address)
      return
    }
    do throws(Failure) {
      address = try WebAddress(text)
    } catch {
      // A word that nobody takes for a URL is mistyped.
      if text.utf8.allSatisfy({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a }) {
        let streams = DashboardStream.allCases.map(\.rawValue).joined(separator: ", ")
        let hint = NearestWord.hint(for: text, among: DashboardStream.allCases.map(\.rawValue))
        throw Failure(text, "not \(streams) or a url\(hint)")
      }
      throw RequestArguments.fault(of: text, error)
    }
    dashboard = nil
    source = address.display
  }
}
