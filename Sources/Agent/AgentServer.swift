public import Core
import Kinds
public import Web

/// The HTTP server of an agent, as a profile names it: its address, and the token
/// that goes there and nowhere else.
public struct AgentServer: Sendable {
  /// The URL of the profile.
  public let base: WebAddress
  /// Whose it is; nil for an address that no profile stands for.
  public let profile: Settings.Profile?

  private let kind: any AgentBackend
  private let held: HeldToken?
  /// By what it is believed to be itself.
  let trust: ServerTrust
  private let allowPlaintext: Bool

  /// The server of a profile.
  ///
  /// - Parameters:
  ///   - tokenFile: the argument of `--token-file`, nil when not given.
  ///   - needsToken: whether a token of the profile that cannot be read is a fault.
  /// - Throws: `Failure`: no URL, a token that cannot be
  ///   read (`denied`), or that would travel in clear text.
  public init(
    _ profile: Settings.Profile, settings: Settings, tokenFile: String?, allowPlaintext: Bool,
    needsToken: Bool = true
  ) throws(Failure) {
    try self.init(
      base: profile.address, settings: settings, profile: profile, tokenFile: tokenFile,
      allowPlaintext: allowPlaintext, needsToken: needsToken)
  }

  /// The server at an address.
  ///
  /// - Parameters:
  ///   - base: where; the token is bound to its origin.
  ///   - profile: whose token may go there; nil leaves `--token-file` alone, for
  ///     an address that no profile stands for, which is taken for a dashboard.
  ///   - tokenFile: the argument of `--token-file`, nil when not given.
  ///   - headers: the user's own; a token among them wins over the configuration,
  ///     not over `--token-file`, and travels as the user says.
  public init(
    base: WebAddress, settings: Settings, profile: Settings.Profile?, tokenFile: String?,
    allowPlaintext: Bool, headers: [Header] = [], needsToken: Bool = true
  ) throws(Failure) {
    self.base = base
    trust = profile?.trust ?? .authorities
    kind = (profile?.kind ?? .clanky).backend
    let name = kind.header(for: Secret(""), on: Request(base)).name
    if tokenFile == nil, let given = headers.last(where: { $0.isNamed(name) }) {
      (self.profile, self.allowPlaintext) = (nil, true)
      held = HeldToken(
        Secret(given.value, source: "the command line"), of: base.origin, header: kind.header)
      return
    }
    self.profile = profile
    self.allowPlaintext = allowPlaintext
    guard profile != nil || tokenFile != nil, kind.carriesToken else {
      held = nil
      return
    }
    let credentials = settings.credentials
    var token: Secret?
    do throws(Failure) {
      token = try credentials.token(option: tokenFile, profile: profile)
    } catch {
      if needsToken || tokenFile != nil || error.status != .denied { throw error }
    }
    guard let token else {
      held = nil
      return
    }
    try kind.check(token)
    held = HeldToken(token, of: base.origin, header: kind.header) { [kind] runs in
      credentials.tokenAgain(option: tokenFile, profile: profile, runs: runs)
        .flatMap { (try? kind.check($0)) == nil ? nil : $0 }
    }
    try base.requirePrivacy("the token would travel over plain http", allowPlaintext)
  }

  /// A request to the server, with its token.
  ///
  /// - Parameters:
  ///   - path: behind the base, a slash in front or none: `list?limit=5`.
  ///   - body: JSON text, nil for none.
  /// - Throws: `Failure` for a path that makes no URL.
  public func request(
    _ path: String, method: String = "GET", body: [UInt8]? = nil
  ) throws(Failure) -> Request {
    let path = path.hasPrefix("/") ? String(path.dropFirst()) : path
    return request(
      to: try Failure.at("path", base.appending(path)), method: method, body: body)
  }

  func request(to address: WebAddress, method: String? = nil, body: [UInt8]?) -> Request {
    var request = Request(
      address, method: method ?? (body == nil ? "GET" : "POST"),
      headers: [Header("Accept", "application/json")] + kind.headers, body: body)
    if body != nil { request.headers.append(Header("Content-Type", "application/json")) }
    // What somebody says to the agent is for nobody else.
    request.staysAtOrigin = body != nil
    authorize(&request)
    return request
  }

  /// Puts the token into a request to the server's origin, takes any other out, and says which
  /// certificate the server is to show; a request to another origin stays as it is.
  public func authorize(_ request: inout Request) {
    guard request.address.origin == base.origin else { return }
    request.trust = trust
    guard let held else { return }
    held.authorize(&request)
    request.isDirect = base.scheme == "http" && !allowPlaintext
  }

  /// The token, for a wire that does not carry it in a header.
  var secret: Secret? { held?.token }

  /// Another token, when that one was refused; nil where there is none.
  func otherSecret() -> Secret? { held?.isRenewed(runs: true) == true ? secret : nil }

  /// Makes sure that nobody on the way can listen, whether there is a token or not.
  func requirePrivacy() throws(Failure) {
    try base.requirePrivacy("all would travel in clear text", allowPlaintext)
  }

  /// Which token was used and whose it is, never the token itself:
  /// `the token from FILE was refused (profile home)`.
  public var refusal: String {
    let profile = profile?.name.map { "profile \($0)" } ?? "no profile"
    guard let token = held?.token else {
      return "no token was sent (\(profile)); see agentutils.conf(5)"
    }
    let source = token.source == "-" ? "standard input" : token.source
    return "the token from \(source) was refused (\(profile))"
  }

  /// What is wrong with an answer: JSON with `error` or `reason`, plain text, or the
  /// page of whatever stands before the server.
  ///
  /// - Parameter head: of the response behind all redirects.
  /// - Returns: nil for 2xx; whether its body makes sense is the caller's to see.
  public func problem(of head: ResponseHead, _ body: [UInt8], method: String = "GET") -> Failure? {
    if (200...299).contains(head.status) { return nil }
    let answer = ErrorAnswer(head, body, method: method)
    if let problem = kind.problem(of: answer, from: self) { return problem }
    switch head.status {
    case 401, 403:
      // A page is of whoever stands before the server, and no word on its token.
      return answer.isPage ? answer.problem(.denied) : answer.problem(refusal, .denied)
    case 404 where answer.isPage || answer.reason == nil:
      return answer.problem("no such path", .failure)
    case 409: return answer.problem(.negative)
    case 413: return answer.problem("the body is too large for the backend", .failure)
    default: return answer.problem(head.isTransient ? .temporary : .failure)
    }
  }
}

extension WebAddress {
  /// The origin as text, without the scheme's own port left out: `http://box:18789`.
  var originText: String { "\(origin.scheme)://\(origin.host):\(origin.port)" }

  /// Makes sure that nobody on the way can read a secret; `danger`: what would happen else.
  func requirePrivacy(
    _ danger: String, _ allowPlaintext: Bool, _ status: ExitStatus = .failure
  ) throws(Failure) {
    if Credentials.mayTravel(scheme: scheme, host: host, allowPlaintext: allowPlaintext) { return }
    throw Failure(display, "\(danger); see --allow-plaintext", status)
  }
}

extension Settings.Profile {
  /// How to get a URL, when a command has none.
  public static let howToName = "run agent-setup, or set AGENT_URL; see agentutils.conf(5)"

  /// Where a URL that cannot be used is to be mended: the environment goes before the file.
  public static var placeOfURL: String {
    Process.environment("AGENT_URL") == nil ? "the profile's url" : "AGENT_URL"
  }

  private static func without(_ place: AgentPlace) -> String {
    "its place is a \(place.sort.rawValue), and this needs a URL"
  }

  /// By what its server is believed to be itself.
  var trust: ServerTrust { fingerprint.map(ServerTrust.certificate) ?? .authoritiesUntilNamed }

  var isSocket: Bool {
    ["ws://", "wss://"].contains { url?.prefix($0.count).lowercased() == $0 }
  }

  /// Where the agent is.
  ///
  /// - Throws: `Failure` when no URL is set, or one that cannot be used.
  public var address: WebAddress {
    get throws(Failure) {
      let backend = kind.backend
      var place = url
      if self.place == nil { place = try backend.usualURL() }
      guard let place else {
        if let other = self.place { throw Failure(name ?? "no url", Self.without(other)) }
        throw Failure("no url", Self.howToName)
      }
      return try Failure.at(
        Self.placeOfURL, backend.isSocket ? WebAddress(socket: place) : WebAddress(place))
    }
  }
}

/// An answer of another status than 2xx, and what can be read in its body.
public struct ErrorAnswer {
  /// Status and fields.
  public let head: ResponseHead
  /// The verb of the request.
  public let method: String
  /// The body, where it is JSON.
  public let json: JSONValue?
  /// The server's own word, or that it is a page; nil when there is neither.
  public let reason: String?
  /// Whether the body is an HTML page.
  public let isPage: Bool

  init(_ head: ResponseHead, _ body: [UInt8], method: String) {
    self.head = head
    self.method = method
    let type = head.value("Content-Type")?.lowercased() ?? ""
    let text = String(decoding: body.prefix(64 * 1024), as: UTF8.self).trimmed
    isPage = type.holds("html") || text.hasPrefix("<")
    if isPage {
      json = nil
      reason = "a page, not the backend's answer"
      return
    }
    json = JSONValue(body)
    guard let json else {
      let first = text.split(whereSeparator: \.isNewline).first.map(String.init)
      reason = first.map(head.quoted)
      return
    }
    let words = json[either: "error", "reason", "message"]
    let word = words?.string ?? words?["message"]?.string ?? words?.compact(limit: 4096)
    reason = word.map(head.quoted)
  }

  /// `404 Not Found: no such path`.
  public func problem(_ reason: String, _ status: ExitStatus) -> Failure {
    Failure("\(head.summary): \(reason)", status)
  }

  /// The same with the server's own word, if it has one.
  public func problem(_ status: ExitStatus) -> Failure {
    reason.map { problem($0, status) } ?? Failure(head.summary, status)
  }
}
