import CLibc
import Core
import Web

/// A part of a joelclaw system, where the profile names it (CONTRACT.md 5).
enum OperatorSource: String, CaseIterable {
  case gateway, inngest, worker, redis, qdrant, kubernetes

  /// The key of the profile that says where it is.
  var key: String {
    switch self {
    case .gateway: "url"
    case .kubernetes: "kubectl-context"
    default: rawValue + "-url"
    }
  }

  /// What is asked to see whether it is well.
  fileprivate var path: String {
    switch self {
    case .gateway, .inngest: "health"
    case .qdrant: "collections"
    default: ""
    }
  }
}

/// Where the parts of a system are.
struct OperatorPlaces {
  private let caller: Caller
  private let profile: Settings.Profile?
  private let settings: Settings

  /// - Throws: `SettingsError` when the configuration cannot be read.
  init(_ caller: Caller) throws(SettingsError) {
    self.caller = caller
    settings = try Settings()
    profile = caller.backend.profile
  }

  /// Those that are named, in the order of the table; the gateway always is.
  var named: [OperatorSource] {
    OperatorSource.allCases.filter { $0 == .gateway || profile?.parts[$0.key] != nil }
  }

  /// The place of a part, for messages.
  func place(_ source: OperatorSource) -> String {
    source == .gateway ? caller.backend.base.socketDisplay : profile?.parts[source.key] ?? ""
  }

  /// Asks for the state of a part.
  ///
  /// - Throws: `SettingsError` for a place that cannot be used.
  func question(_ source: OperatorSource) throws(SettingsError) -> OperatorQuestion {
    switch source {
    case .redis: try redis(RedisText.health)
    case .kubernetes: .program(try kubectl(["get", "pods", "-A", "-o", "json"]), input: [])
    default: .http(try server(source).request(source.path))
    }
  }

  /// The HTTP server of a part.
  ///
  /// - Throws: `SettingsError` when the profile names none, or one that cannot be used.
  func server(_ source: OperatorSource) throws(SettingsError) -> AgentServer {
    if source == .gateway { return caller.backend }
    let base: WebAddress
    let url = try value(source)
    do throws(AddressError) { base = try WebAddress(url) } catch {
      throw SettingsError(source.key, error.reason)
    }
    return try AgentServer(
      base: base, settings: settings, profile: nil, tokenFile: nil, allowPlaintext: false)
  }

  /// Asks Redis.
  ///
  /// - Parameter commands: one a line.
  /// - Throws: `SettingsError`, as above.
  func redis(_ commands: [String]) throws(SettingsError) -> OperatorQuestion {
    let (key, url) = (OperatorSource.redis.key, try value(.redis))
    let isSecure = url.hasPrefix("rediss://")
    guard isSecure || url.hasPrefix("redis://") else {
      throw SettingsError(key, "not a redis or rediss url")
    }
    let address: WebAddress
    do throws(AddressError) {
      address = try WebAddress("http" + url.drop(while: { $0 != ":" }))
    } catch {
      throw SettingsError(key, error.reason)
    }
    if address.user != nil || address.password != nil {
      throw SettingsError(key, "holds a password: name its file in redis-password-file")
    }
    let path = address.text.split(separator: "/").dropFirst(2)
    let host = address.host.hasPrefix("[") ? address.host.dropFirst().dropLast() : address.host[...]
    // What is missing is Redis's own port, not that of the web.
    let port = address.port == 80 ? 6379 : address.port
    var words = ["redis-cli", "--json", "-h", String(host), "-p", String(port)]
    if let number = path.first.flatMap({ Int($0) }) { words += ["-n", String(number)] }
    if isSecure { words.append("--tls") }
    var lines = commands
    if let file = profile?.parts["redis-password-file"] {
      // A word of a command or a value of the environment is seen by others.
      let secret = try settings.credentials.secret(inFile: settings.folders.expand(file))
      lines.insert("AUTH " + RedisText.quoted(secret.reveal()), at: 0)
    }
    return .program(words, input: Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  private func kubectl(_ words: [String]) throws(SettingsError) -> [String] {
    let context = try value(.kubernetes)
    return ["kubectl", "--context=" + context] + words
  }

  private func value(_ source: OperatorSource) throws(SettingsError) -> String {
    guard let value = profile?.parts[source.key] else {
      throw SettingsError(
        profile?.name ?? "AGENT_URL", "no \(source.key) is set; see agentutils.conf(5)")
    }
    return value
  }
}
