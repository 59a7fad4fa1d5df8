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
