import CLibc
import Core
import Web

/// A part of a joelclaw system, where the profile names it (CONTRACT.md 5).
enum OperatorSource: String, CaseIterable {
  case gateway, inngest, worker, redis, qdrant, kubernetes

  var key: String {
    switch self {
    case .gateway: "url"
    case .kubernetes: "kubectl-context"
    default: rawValue + "-url"
    }
  }

  fileprivate var path: String {
    switch self {
    case .gateway, .inngest: "health"
    case .qdrant: "collections"
    default: ""
    }
  }
}

struct OperatorPlaces {
  private let caller: Caller
  private let profile: Settings.Profile?
  private let settings: Settings

  init(_ caller: Caller) throws(Failure) {
    self.caller = caller
    settings = try Settings()
    profile = caller.backend.profile
  }

  /// Those that are named, in the order of the table; the gateway always is.
  var named: [OperatorSource] {
    OperatorSource.allCases.filter { $0 == .gateway || profile?.own[$0.key] != nil }
  }

  /// Nothing of the URL that may be a secret; empty for one that cannot be read.
  func place(_ source: OperatorSource) -> String {
    if source == .gateway { return caller.backend.base.socketDisplay }
    let value = profile?.own[source.key] ?? ""
    switch source {
    case .kubernetes: return value
    case .redis: return (try? RedisPlace(value))?.display ?? ""
    default:
      let display = (try? WebAddress(value))?.display ?? ""
      return display.hasSuffix("/") && !value.hasSuffix("/") ? String(display.dropLast()) : display
    }
  }

  func question(_ source: OperatorSource) throws(Failure) -> OperatorQuestion {
    switch source {
    case .redis: try redis(RedisText.health)
    case .kubernetes: .program(try kubectl(["get", "pods", "-A", "-o", "json"]), input: [])
    default: .http(try server(source).request(source.path))
    }
  }

  func server(_ source: OperatorSource) throws(Failure) -> AgentServer {
    if source == .gateway { return caller.backend }
    let base: WebAddress
    let url = try value(source)
    do throws(Failure) { base = try WebAddress(url) } catch {
      throw Failure(source.key, error.reason)
    }
    if base.user != nil || base.password != nil {
      throw Failure(source.key, "names a user: no part but the gateway gets a credential")
    }
    return try AgentServer(
      base: base, settings: settings, profile: nil, tokenFile: nil, allowPlaintext: false)
  }

  func redis(_ commands: [String]) throws(Failure) -> OperatorQuestion {
    let place = try RedisPlace(try value(.redis))
    var words = ["redis-cli", "--json", "-h", place.name, "-p", String(place.port)]
    if place.isSecure { words.append("--tls") }
    // The option of the program says nothing of a number that there is not.
    var lines = place.number == 0 ? commands : ["SELECT \(place.number)"] + commands
    if let file = profile?.own["redis-password-file"] {
      let may = Credentials.mayTravel(
        scheme: place.isSecure ? "https" : "http", host: place.host, allowPlaintext: false)
      if !may {
        throw Failure(place.display, "the password would travel in clear text; use rediss")
      }
      // A word of a command or a value of the environment is seen by others.
      let secret = try settings.credentials.secret(inFile: settings.folders.expand(file))
      lines.insert("AUTH " + RedisText.quoted(secret.reveal()), at: 0)
    }
    return .program(words, input: Array((lines.joined(separator: "\n") + "\n").utf8))
  }

  private func kubectl(_ words: [String]) throws(Failure) -> [String] {
    let context = try value(.kubernetes)
    return ["kubectl", "--context=" + context] + words
  }

  private func value(_ source: OperatorSource) throws(Failure) -> String {
    guard let value = profile?.own[source.key] else {
      throw Failure(
        profile?.name ?? "AGENT_URL", "no \(source.key) is set; see agentutils.conf(5)")
    }
    return value
  }
}
