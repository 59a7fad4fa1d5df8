import Core
import Kinds

/// What the configuration says, for a script to evaluate: no secret, nor what prints one.
struct ScriptSection {
  enum Kind: String, CaseIterable { case profile, host, bus }

  private let kind: Kind
  private let settings: Settings
  private let names: [String]
  /// The section that is meant where none is named, or a host that has no section.
  private let usual: String

  init(_ kind: Kind) throws(Failure) {
    self.kind = kind
    // The section is asked for, not what AGENT_URL and the like make of it.
    settings = try Settings { $0.hasPrefix("AGENT_") ? nil : Process.environment($0) }
    let configuration = settings.configuration
    let named: String?
    switch kind {
    case .profile:
      (names, named) = (configuration.profiles.keys.sorted(), configuration.defaultProfile)
    case .host: (names, named) = (configuration.hosts.keys.sorted(), configuration.defaultHost)
    case .bus:
      names = configuration.buses.keys.sorted()
      named = names.contains("local") ? "local" : ""
    }
    let isOnlyOne = configuration.defaultFault == nil && names.count == 1
    usual = named ?? (names.contains("default") ? "default" : isOnlyOne ? names[0] : "")
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

/// Where the agent of a profile is at a terminal, for a script to evaluate: the host as
/// tmux-attach(1) and transcript-tail(1) take it, empty for an agent that is elsewhere, and the
/// conversation of a session that is named, empty without one.
///
/// - Parameter profile: nil for the usual one.
func hostWords(of profile: String?) throws -> String {
  func words(_ host: String, _ conversation: String = "") -> String {
    "host=\(ScriptWords.quoted(host))\nconversation=\(ScriptWords.quoted(conversation))\n"
  }
  let settings = try Settings()
  // What is wrong with a profile says who asks its agent.
  let name = profile ?? (settings.namesNoAgent ? "." : nil)
  guard let place = (try? settings.profile(name))?.host else { return words("") }
  let (host, session) = AgentPlace.parts(ofHost: place)
  guard let session else { return words(host) }
  let list = try ProgramCall(["tmux-attach", "-l", "-o", "json", host])
  ProgramCall.wait(for: [list])
  if list.status > 1 {
    let reason = list.faults.first ?? "\(host): its sessions cannot be listed"
    throw Failure(reason, ExitStatus(rawValue: list.status) ?? .failure)
  }
  let found = list.lines.compactMap { try? JSONValue.parse(text: $0) }.last {
    $0["name"]?.string == session && $0["label"] == nil && $0["process"] == nil
  }
  guard let found else { throw Failure(host, "no session \(session)") }
  guard let id = found["conversation"]?.string else {
    throw Failure("session \(session)", "its agent keeps no transcript")
  }
  return words(host, id)
}
