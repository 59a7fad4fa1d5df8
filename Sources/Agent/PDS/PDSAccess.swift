public import Core
import Kinds
import Records
public import Web

/// The way to a personal data server and an account on it.
public struct PDSAccess {
  /// Who is asked.
  public let server: PDSServer
  /// Drives the requests.
  public let client: WebClient
  /// The profile that was asked for, whose server this is; nil for an address alone.
  public let profile: String?

  /// The way to the server that the configuration, the environment and the options name
  /// together. A profile of another kind may name that of its server by `pds`.
  ///
  /// - Parameter tokenTime: how long a command that prints the password may take, seconds; nil
  ///   for no limit.
  /// - Throws: `Failure`: no such profile, one of another kind, no URL.
  public init(
    _ options: AccessOptions, tokenTime: Double? = nil, diagnostics: Diagnostics
  ) throws(Failure) {
    var settings = try Settings()
    client = try options.client(diagnostics.program, connectTimeout: 10)
    var profile = try settings.profile(options.profile)
    self.profile = profile.name
    if let pds = profile.pds, profile.kind != .pds {
      (profile, settings) = try Self.named(pds)
    }
    // Of an address alone nothing else is known.
    if profile.name == nil { profile.kind = .pds }
    settings.tokenTime = tokenTime
    try profile.require(.records, for: diagnostics.program)
    server = try PDSServer(profile, settings, options)
    settings.configuration.report(to: diagnostics)
  }

  init(_ agent: AgentAccess) throws(Failure) {
    client = agent.client
    self.profile = agent.profile.name
    var (profile, settings) = (agent.profile, try Settings())
    if let pds = profile.pds, profile.kind != .pds {
      (profile, settings) = try Self.named(pds)
      try profile.require(.records, for: String(agent.client.agent.prefix { $0 != "/" }))
    }
    settings.tokenTime = agent.tokenTime.flatMap { $0 > 0 ? $0 : nil }
    settings.tokenDeadline = agent.tokenDeadline
    server = try PDSServer(profile, settings, agent.options)
  }

  /// The profile that another one names. What the environment says is about the agent.
  private static func named(_ pds: String) throws(Failure) -> (Settings.Profile, Settings) {
    let ofAgent = ["AGENT_URL", "AGENT_TOKEN_FILE", "CREDENTIALS_DIRECTORY"]
    let settings = try Settings { ofAgent.contains($0) ? nil : Process.environment($0) }
    return (try settings.profile(pds), settings)
  }
}

extension Settings.Profile {
  /// Who logs in at a personal data server, a handle or a DID.
  var identifier: String? { own["identifier"] }
  /// The profile of the personal data server on which the agent keeps its records.
  public var pds: String? { own["pds"] }
}

/// A personal data server, as a profile names it: where it is, who logs in there, and what is
/// known of the password.
public struct PDSServer: Sendable {
  let base: WebAddress
  /// Who logs in, and whose records are meant where nobody else is named.
  let identifier: Repository?
  let profile: Settings.Profile
  private let settings: Settings
  private let tokenFile: String?
  private let allowPlaintext: Bool

  init(
    _ profile: Settings.Profile, _ settings: Settings, _ options: AccessOptions
  ) throws(Failure) {
    self.profile = profile
    self.settings = settings
    base = try profile.address
    tokenFile = options.tokenFile
    allowPlaintext = options.allowPlaintext
    identifier = try profile.identifier.map { text throws(Failure) in
      guard let repository = Repository(text.hasPrefix("@") ? String(text.dropFirst()) : text)
      else {
        throw Failure("the profile's identifier", "neither a handle nor a DID: \(text)")
      }
      return repository
    }
  }

  /// The password of the account: an app password, from wherever tokens come from.
  func password() throws(Failure) -> Secret {
    guard
      let password = try settings.credentials.token(option: tokenFile, profile: profile)
    else {
      throw Failure(
        profile.name.map { "profile \($0)" } ?? base.display,
        "no app password: set token-file or token-command; see agentutils.conf(5)", .denied)
    }
    try requirePrivacy("the password")
    return password
  }

  /// Makes sure that nobody on the way can read a secret.
  func requirePrivacy(_ secret: String) throws(Failure) {
    try base.requirePrivacy("\(secret) would travel over plain http", allowPlaintext, .denied)
  }

  /// A call (Agent/PDS/CONTRACT.md 1): `body` nil for a query, empty for one without input;
  /// `type`: of the body.
  func request(
    _ method: String, query: [(name: String, value: String?)] = [], body: [UInt8]? = nil,
    type: String = "application/json", token: Secret? = nil, secrets: [Secret] = []
  ) throws(Failure) -> Request {
    // Who takes an address from an example of a call has its first word, too.
    let hasIt = ["/xrpc", "/xrpc/"].contains { base.text.hasSuffix($0) }
    let path = "\(hasIt ? "" : "xrpc/")\(method)\(QueryText.encode(query))"
    let address = try Failure.at("the profile's url", base.appending(path))
    var request = Request(
      address, method: body == nil ? "GET" : "POST",
      headers: [Header("Accept", "application/json")], body: body?.isEmpty == true ? nil : body)
    request.trust = profile.trust
    if body != nil {
      request.headers.append(
        body?.isEmpty == true
          ? Header("Content-Length", "0") : Header("Content-Type", type))
    }
    if let token {
      request.privateHeaders.append(Header("Authorization", "Bearer \(token.reveal())"))
    }
    request.unquotable = ([token].compactMap { $0 } + secrets).map { $0.reveal() }
    // What is read by everybody may be looked up elsewhere; the rest stays here.
    request.staysAtOrigin = body != nil || token != nil
    request.followsRedirects = !request.staysAtOrigin
    request.isDirect = request.staysAtOrigin && base.scheme == "http" && !allowPlaintext
    return request
  }
}
