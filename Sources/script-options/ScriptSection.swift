import Core
import Kinds

/// What the configuration says, for a script to evaluate: no secret, nor what prints one.
struct ScriptSection {
  enum Kind: String, CaseIterable { case profile, host, bus }

  let kind: Kind
  private let settings: Settings
  private var configuration: Configuration { settings.configuration }

  init(_ kind: Kind) throws(Failure) {
    self.kind = kind
    // The section is asked for, not what AGENT_URL and the like make of it.
    settings = try Settings { $0.hasPrefix("AGENT_") ? nil : Process.environment($0) }
  }

  private var names: [String] {
    switch kind {
    case .profile: configuration.profiles.keys.sorted()
    case .host: configuration.hosts.keys.sorted()
    case .bus: configuration.buses.keys.sorted()
    }
  }

  /// The section that is meant where none is named, or a host that has no section.
  private var usual: String {
    let named =
      switch kind {
      case .profile: configuration.defaultProfile
      case .host: configuration.defaultHost
      case .bus: names.contains("local") ? "local" : ""
      }
    if let named { return named }
    if names.contains("default") { return "default" }
    return configuration.defaultFault == nil && names.count == 1 ? names[0] : ""
  }

  var all: String {
    "default=\(ScriptWords.quoted(usual))\n"
      + "set --\(names.map { " " + ScriptWords.quoted($0) }.joined())\n"
  }

  /// A variable for each member, empty for what is not said; nil where there is no such section.
  func members(of name: String) throws(Failure) -> String? {
    guard names.contains(name) else { return nil }
    let members =
      switch kind {
      case .profile: Self.members(try settings.profile(name))
      case .host: try settings.host(name).map(Self.members) ?? []
      case .bus: try settings.bus(name).map(Self.members) ?? []
      }
    return members.map { key, value in
      "\(key.exchanging("-", for: "_"))=\(ScriptWords.quoted(value ?? ""))\n"
    }.joined()
  }

  private static func members(_ profile: Settings.Profile) -> [(String, String?)] {
    [
      ("kind", profile.kind.name), ("url", plain(profile.url)), ("token-file", profile.tokenFile),
    ]
      + KindFacts.all.flatMap(\.keys).map { key in
        (key.name, key.value == "URL" ? plain(profile.own[key.name]) : profile.own[key.name])
      }
  }

  private static func members(_ host: Configuration.HostSection) -> [(String, String?)] {
    [
      ("hostname", host.hostname), ("port", host.port.map(String.init)), ("user", host.user),
      ("identity", host.identity), ("session", host.session), ("directory", host.directory),
      ("harness", host.harness),
    ]
  }

  private static func members(_ bus: Configuration.BusSection) -> [(String, String?)] {
    let files = ["creds-file", "nkey-file", "token-file", "user-file", "ca", "cert", "key"]
    return [
      ("servers", bus.servers.compactMap(plain).joined(separator: ",")), ("stream", bus.stream),
    ] + files.map { ($0, bus.files[$0]) }
  }

  /// A URL that surely has no password in it, nor a token in its query.
  private static func plain(_ url: String?) -> String? {
    url?.contains { "@?#".contains($0) } == true ? nil : url
  }
}
