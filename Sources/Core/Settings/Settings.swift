import Kinds

/// What the environment and the configuration file say together: options win
/// over the environment, the environment over the file.
public struct Settings: Sendable {
  /// A backend, as the command is to use it. Its token and its certificate are those of the section,
  /// unless `AGENT_URL` leads to another origin than the section's `url`: a token goes only where it
  /// was configured for. Its kind stays that of the section, unless nobody named the profile and
  /// only one of the two is a WebSocket's.
  public typealias Profile = Configuration.ProfileSection

  /// Where the files are.
  public let folders: Folders
  /// What the file says.
  public let configuration: Configuration
  /// See `Credentials.deadline`.
  public var tokenDeadline = Double.infinity
  /// How long a command that prints a token may take each time, seconds; nil for no limit.
  public var tokenTime: Double?
  private let environment: @Sendable (String) -> String?

  /// Reads the configuration file, if there is one.
  ///
  /// - Parameter diagnostics: takes the file's faults, a line each; nil for silence.
  /// - Throws: `Failure` when the file is there and cannot be read.
  public init(
    diagnostics: Diagnostics? = nil,
    environment: @escaping @Sendable (String) -> String? = { Process.environment($0) }
  ) throws(Failure) {
    folders = Folders(environment: environment)
    configuration = try Configuration(contentsOf: folders.configFile)
    self.environment = environment
    if let diagnostics { configuration.report(to: diagnostics) }
  }

  /// The list of prices that the file names; nil where it names none.
  public var prices: String? { configuration.prices.map(folders.expand) }

  /// The profile to use: the option's, else `AGENT_PROFILE`'s, else the file's
  /// default (`profile = NAME` at its top, the one named `default`, or the only
  /// one). None at all is a profile without a name.
  ///
  /// - Parameter option: the argument of `--profile`, nil when not given.
  /// - Throws: `Failure` for a profile that is not there, or whose
  ///   section holds a line that could not be understood.
  public func profile(_ option: String? = nil) throws(Failure) -> Profile {
    let url = environment("AGENT_URL")
    let named = option ?? environment("AGENT_PROFILE")
    var chosen = named
    if chosen == nil { chosen = try defaultName(required: url == nil) }
    guard let name = chosen else {
      return Profile(place: url.map(AgentPlace.url))
    }
    guard let section = configuration.profiles[name] else {
      if Self.isHost(name) { return Profile(name: name, place: .host(name), kind: .claude) }
      let hint = NearestWord.hint(for: name, among: configuration.profiles.keys.sorted())
      let help = hint.isEmpty ? "; 'agent-setup -p \(name)' writes it" : hint
      throw Failure("profile \(name)", "not in \(configuration.path)\(help)")
    }
    try check(section.fault, "profile \(name)")
    var profile = section
    (profile.name, profile.kind) = (name, section.kind)
    profile.place = url.map(AgentPlace.url) ?? section.place
    profile.tokenFile = section.tokenFile.map(folders.expand)
    let origin = section.url.flatMap(URLOrigin.init)
    let scheme = section.url.map { $0.prefix { $0 != ":" }.lowercased() }
    if section.fingerprint != nil, scheme != "https", scheme != "wss" {
      throw Failure("profile \(name)", "tls-fingerprint is for a url with https or wss")
    }
    if let url, section.place != nil, origin == nil || origin != URLOrigin(url) {
      (profile.fingerprint, profile.tokenCommand, profile.tokenFile) = (nil, nil, nil)
      let staying = Set(KindFacts.all.flatMap(\.keys).filter(\.staysElsewhere).map(\.name))
      profile.own = profile.own.filter { staying.contains($0.key) }
    }
    // Who only has a default profile and tries an address of another sort means that.
    let usual = KindFacts.usual(at: url)
    if named == nil, url != nil, let own = section.url, KindFacts.usual(at: own) != usual {
      profile.kind = usual
    }
    return profile
  }

  /// Whether nothing at all says which agent is meant when none is named.
  public var namesNoAgent: Bool {
    ["AGENT_URL", "AGENT_PROFILE"].allSatisfy { environment($0) == nil }
      && configuration.profiles.isEmpty && configuration.defaultProfile == nil
      && configuration.defaultFault == nil
  }

  /// Whether a name that no profile has is a host's: `.` or `box:`, with a session behind the colon.
  private static func isHost(_ name: String) -> Bool {
    name == "." || name.dropFirst().utf8.contains(UInt8(ascii: ":")) && !name.holds("/")
  }

  /// The certificate that the server of a URL may show, where a profile at its origin names one.
  public func fingerprint(at url: String) -> CertificateFingerprint? {
    guard let origin = URLOrigin(url) else { return nil }
    let sections = configuration.profiles.sorted { $0.key < $1.key }.map(\.value)
    return sections.first {
      $0.fingerprint != nil && $0.url.flatMap(URLOrigin.init) == origin
    }?.fingerprint
  }

  /// The section of a host.
  ///
  /// - Returns: nil when the file has none of this name.
  /// - Throws: `Failure` when a line of it could not be understood.
  public func host(_ name: String) throws(Failure) -> Configuration.HostSection? {
    guard var section = configuration.hosts[name] else { return nil }
    try check(section.fault, "host \(name)")
    section.identity = section.identity.map(folders.expand)
    return section
  }

  /// The host to use when none is named: the file's default (`host = NAME` at its
  /// top, the section named `default`, or the only one).
  ///
  /// - Returns: nil when the file names none, or several.
  /// - Throws: `Failure` when a broken line leaves that open.
  public func defaultHost() throws(Failure) -> String? {
    if let name = configuration.defaultHost { return name }
    if configuration.hosts["default"] != nil { return "default" }
    if let fault = configuration.defaultFault {
      throw Failure(
        "\(configuration.path):\(fault.line)", "no default host can be told: \(fault.reason)")
    }
    return configuration.hosts.count == 1 ? configuration.hosts.keys.first : nil
  }

  /// The section of a bus: the one that is named, by the argument or `AGENT_BUS`, else the one
  /// named `local`.
  ///
  /// - Returns: nil when none is named and there is no `local`. Its files have absolute paths.
  /// - Throws: `Failure` for one that is not there, or whose section holds a line that
  ///   could not be understood.
  public func bus(_ option: String? = nil) throws(Failure) -> Configuration.BusSection? {
    let named = option ?? environment("AGENT_BUS")
    let name = named ?? "local"
    guard var section = configuration.buses[name] else {
      if named == nil { return nil }
      let hint = NearestWord.hint(for: name, among: configuration.buses.keys.sorted())
      throw Failure("bus \(name)", "not in \(configuration.path)\(hint)")
    }
    try check(section.fault, "bus \(name)")
    section.files = section.files.mapValues(folders.expand)
    return section
  }

  private func check(_ fault: Configuration.Fault?, _ section: String) throws(Failure) {
    guard let fault else { return }
    throw Failure(
      section, "line \(fault.line) of \(configuration.path) is at fault: \(fault.reason)")
  }

  /// Where tokens come from.
  public var credentials: Credentials {
    var credentials = Credentials(folders: folders, environment: environment)
    let limit = tokenTime.map { Clock.monotonic + $0 } ?? .infinity
    credentials.deadline = min(tokenDeadline, limit)
    return credentials
  }

  private func defaultName(required: Bool) throws(Failure) -> String? {
    if let name = configuration.defaultProfile { return name }
    if configuration.profiles["default"] != nil { return "default" }
    let fault = configuration.defaultFault
    if fault == nil && configuration.profiles.count < 2 { return configuration.profiles.keys.first }
    guard required else { return nil }
    if let fault {
      throw Failure(
        "\(configuration.path):\(fault.line)", "no default profile can be told: \(fault.reason)")
    }
    throw Failure(
      configuration.path, "several profiles: name one with -p, or put 'profile = NAME' at the top")
  }
}

/// The origin of a URL: scheme, host and port (RFC 6454), as far as comparing
/// two settings needs it. A URL that cannot be compared surely, such as one with
/// a name that is not ASCII, has none.
struct URLOrigin: Equatable {
  let scheme: String
  let host: String
  let port: Int

  init?(_ url: String) {
    let bytes = Array(url.utf8)
    guard bytes.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x5c }),
      let colon = url.place(of: "://")
    else { return nil }
    scheme = url[..<colon.lowerBound].lowercased()
    let ports = ["http": 80, "https": 443, "ws": 80, "wss": 443]
    guard let standard = ports[scheme] else { return nil }
    var authority = url[colon.upperBound...].prefix { !"/?#".contains($0) }
    if let at = authority.lastIndex(of: "@") {
      authority = authority[authority.index(after: at)...]
    }
    var port: Int? = standard
    if let end = authority.lastIndex(of: ":"), authority[end...].firstIndex(of: "]") == nil {
      let digits = authority[authority.index(after: end)...]
      if !digits.isEmpty { port = UInt16(digits).map(Int.init) }
      authority = authority[..<end]
    }
    guard let port, !authority.isEmpty else { return nil }
    host = authority.lowercased()
    self.port = port
  }
}
