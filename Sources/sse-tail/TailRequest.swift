import Agent
import Core
import Web

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
      let base: WebAddress
      do throws(Failure) { base = try WebAddress(url) } catch {
        throw Failure(Settings.Profile.placeOfURL, error.reason)
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
