import CLibc
public import Core
public import Web

/// The way to an agent: what every command that uses the network begins with.
public struct AgentAccess {
  /// The profile in use.
  public let profile: Settings.Profile
  /// Who is asked, with the token.
  public let backend: AgentServer
  /// Drives the requests.
  public let client: WebClient
  let options: AccessOptions
  /// How long a command that prints a token of another server of the profile may take, seconds.
  private(set) var tokenTime: Double?
  private(set) var tokenDeadline = Double.infinity

  /// The way to the agent that the configuration, the environment and the options
  /// name together.
  ///
  /// - Parameters:
  ///   - connectTimeout: the longest wait for a connection, seconds.
  ///   - maxTime: how long a command that prints the token may take, seconds; nil or 0 for
  ///     no limit.
  /// - Throws: `Failure`: no such profile, an agent that cannot be asked for
  ///   this, no URL, no token to be had, no such file of authorities.
  public init(
    _ options: AccessOptions, for capability: AgentCapability, connectTimeout: Double = 30,
    maxTime: Double? = nil, diagnostics: Diagnostics
  ) throws(Failure) {
    var settings = try Settings()
    settings.limitToken(maxTime)
    let client = try options.client(diagnostics.program, connectTimeout: connectTimeout)
    let profile = try settings.profile(options.profile)
    // Nothing is known of an agent that is not named.
    if profile.name == nil, profile.url == nil {
      if capability == .clips {
        throw Failure(
          "no voice server", "name its profile with -p, or give --command; see agentutils.conf(5)")
      }
      _ = try profile.address
    }
    try profile.require(capability, for: diagnostics.program)
    try self.init(options, profile, settings: settings, client: client, tokenTime: maxTime)
    // A fault of the profile in use is an error, told once; others are warnings.
    settings.configuration.report(to: diagnostics)
  }

  /// The way to the agent of a profile, which can be asked for what is wanted.
  ///
  /// - Parameters:
  ///   - settings: the configuration; its faults are the caller's to tell.
  ///   - tokenTime: how long a command that prints a token may take each time, seconds; nil
  ///     for what the settings say.
  /// - Throws: `Failure`: no URL, no token to be had.
  public init(
    _ options: AccessOptions, _ profile: Settings.Profile, settings: Settings, client: WebClient,
    tokenTime: Double? = nil
  ) throws(Failure) {
    self.tokenTime = tokenTime
    tokenDeadline = tokenTime == nil ? settings.tokenDeadline : .infinity

    (self.profile, self.client, self.options) = (profile, client, options)
    backend = try AgentServer(
      profile, settings: settings, tokenFile: options.tokenFile,
      allowPlaintext: options.allowPlaintext, needsToken: options.needsToken)
  }
}

extension AccessOptions {
  /// What drives the requests of a command.
  ///
  /// - Parameter connectTimeout: the longest wait for a connection, seconds.
  /// - Throws: `Failure` when the file of authorities cannot be read.
  public func client(_ program: String, connectTimeout: Double = 30) throws(Failure) -> WebClient {
    if let file = authorities, access(file, R_OK) != 0 {
      throw Failure(file, systemReason(systemError))
    }
    guard
      let client = WebClient(
        agent: "\(program)/\(suiteVersion)", connectTimeout: connectTimeout,
        authorities: authorities)
    else { throw Failure("libcurl", "out of memory") }
    return client
  }
}

extension Caller {
  /// `--max-time`, seconds; nil when it is not given.
  public static let maxTime = Option<Double?>(
    nil, "max-time", "SECONDS", "give up after this time, 0 never (default: 30)", .seconds
  ) { $0 = $1 }.rare

  /// A caller of the agent that the configuration, the environment and the options
  /// name together.
  ///
  /// - Parameter maxTime: the argument of `--max-time`, seconds.
  /// - Throws: `Failure`, for the reasons above.
  public convenience init(
    _ options: AccessOptions, for capability: AgentCapability, maxTime: Double?,
    diagnostics: Diagnostics
  ) throws(Failure) {
    let start = Clock.monotonic
    let wait = maxTime.map { $0 > 0 ? min($0, Caller.connectTime) : Caller.connectTime }
    let agent = try AgentAccess(
      options, for: capability, connectTimeout: wait ?? Caller.connectTime, maxTime: maxTime,
      diagnostics: diagnostics)
    self.init(
      agent.backend, client: agent.client, maxTime: maxTime, since: start,
      diagnostics: diagnostics)
  }
}

extension Settings {
  /// Lets a command that prints the token take so long at most.
  ///
  /// - Parameter maxTime: seconds; nil or 0 for no limit.
  public mutating func limitToken(_ maxTime: Double?) {
    if let maxTime, maxTime > 0 { tokenDeadline = Clock.monotonic + maxTime }
  }
}

/// The options that say whose backend is asked, and how it is let in: the same
/// in every command that uses the network.
public struct AccessOptions: Sendable {
  /// The argument of `--profile`, nil when not given.
  public var profile: String?
  /// The argument of `--token-file`.
  public var tokenFile: String?
  /// Whether the token may go over plain http to any host.
  public var allowPlaintext = false
  /// Whether nothing can be asked without the token; a profile's own may be what is to be
  /// fetched.
  public var needsToken = true
  /// The file of certificate authorities, the argument of `--cacert`.
  public var authorities: String?

  /// Nothing given.
  public init() {}

  /// The same for another command, but for the profile.
  public var words: [String] {
    (tokenFile.map { ["--token-file", $0] } ?? []) + (authorities.map { ["--cacert", $0] } ?? [])
      + (allowPlaintext ? ["--allow-plaintext"] : [])
  }

  /// `-p` of a command that asks one backend.
  public static let profile = Option<AccessOptions>(
    "p", "profile", "NAME", "use this profile, see agentutils.conf(5)",
    .text.offering(CompletionNames.profiles)
  ) { $0.profile = $1 }.once("agent-tail follows several")

  /// How the backend of any profile lets us in.
  public static let credentials: [Option<AccessOptions>] = [
    Option(nil, "token-file", "FILE", "read the token from FILE", .path) { $0.tokenFile = $1 }.rare,
    Option(nil, "allow-plaintext", "send the token over plain http to any host") {
      $0.allowPlaintext = true
    }.rare,
    Option(nil, "cacert", "FILE", "trust the certificate authorities in FILE", .path) {
      $0.authorities = $1
    }.rare,
  ]

  /// All of them.
  public static let options = [profile] + credentials
}
