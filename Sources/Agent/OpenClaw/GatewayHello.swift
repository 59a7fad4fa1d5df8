import Core
import Records
import Web

/// What a connection may do. Asked for by need (Agent/OpenClaw/CONTRACT.md 4).
enum GatewayScope: String, CaseIterable {
  case read = "operator.read"
  case write = "operator.write"
  case approvals = "operator.approvals"
  case questions = "operator.questions"
  case pairing = "operator.pairing"
  case admin = "operator.admin"
}

/// The greeting of a gateway that lets one in (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayHello {
  /// 3 or 4.
  let version: Int64
  let server: String
  /// Which start of the gateway it is; nil where that is not said.
  let boot: String?
  /// Since its start, seconds; nil where that is not said.
  let uptime: Int?
  /// What was granted; may be fewer than was asked for. Nil when that is not said.
  let scopes: [String]?
  let deviceToken: Secret?
  /// Between two ticks, seconds.
  let tick: Double
  /// The largest frame that it takes, bytes.
  let mostBytes: Int
  /// The largest file that goes with a message, and the largest picture, bytes; nil where
  /// that is not said, as no gateway did before August 2026.
  let mostFile: Int?
  let mostPicture: Int?
  let methods: Set<String>
  let agent: String
  let mainKey: String
  /// The session key of agent and conversation where none is named; nil when not said.
  let mainSessionKey: String?
  /// Whether the main conversations of all agents are one.
  let isGlobal: Bool
  /// How far its clock is ahead of ours, milliseconds; nil when that is not known.
  var ahead: Int64?

  /// Nil when it is not a greeting.
  init?(_ payload: ScanValue) {
    guard payload.isObject, let hello = try? JSONValue.parse(payload.bytes),
      let version = hello["protocol"]?.integer
    else { return nil }
    self.version = version
    server = hello["server"]?["version"]?.string ?? "?"
    boot = hello["server"]?["bootId"]?.string
    uptime = (hello["snapshot"]?["uptimeMs"]?.integer).map { Int(clamping: max($0, 0) / 1000) }
    let auth = hello["auth"]
    scopes = auth?["scopes"]?.elements.compactMap(\.string)
    deviceToken = auth?["deviceToken"]?.string.flatMap {
      $0.isEmpty ? nil : Secret($0, source: "the gateway")
    }
    let policy = hello["policy"]
    tick = min(max((policy?["tickIntervalMs"]?.number ?? 30_000) / 1000, 0.1), 3600)
    mostBytes = Int(min(max(policy?["maxPayload"]?.integer ?? 26_214_400, 65_536), 1 << 40))
    let files = policy?["attachments"]
    mostFile = (files?["maxBytes"]?.integer).map { Int(clamping: max($0, 0)) }
    mostPicture = (files?["maxImageBytes"]?.integer).map { Int(clamping: max($0, 0)) }
    methods = Set(hello["features"]?["methods"]?.elements.compactMap(\.string) ?? [])
    let defaults = hello["snapshot"]?["sessionDefaults"]
    agent = defaults?["defaultAgentId"]?.string ?? "main"
    mainKey = defaults?["mainKey"]?.string ?? "main"
    mainSessionKey = defaults?["mainSessionKey"]?.string
    isGlobal = defaults?["scope"]?.string == "global"
  }

  /// A method that is not announced may still be there where nothing is announced.
  func knows(_ method: String) -> Bool { methods.isEmpty || methods.contains(method) }

  func grants(_ scope: GatewayScope) -> Bool { scopes?.contains(scope.rawValue) != false }

  /// Whether its agents can ask a person: gateways since July 2026 say so.
  var asksQuestions: Bool { methods.contains("question.list") }

  /// The largest file of a gateway that does not say it, bytes.
  private static let usualFile = 5_000_000

  func problem(of files: [ChatQuestion.Attachment]) -> Failure? {
    let most = mostFile ?? Self.usualFile
    return files.lazy.compactMap { $0.problem(most: most, picture: mostPicture ?? most) }.first
  }

  /// The oldest a row may be to be of `time` (both milliseconds since 1970) by its own clock.
  func since(_ time: Int64) -> Int64 {
    guard let ahead, ahead.magnitude < 3_600_000 else { return time - 60_000 }
    return time + min(ahead, 0) - 2000
  }

  /// The key as the gateway writes it in all that it sends; nil for the main conversation.
  func sessionKey(thread: String?, agent: String?) -> String {
    let key = thread.flatMap { GatewayKey($0) }
    if key == nil, agent == nil, let mainSessionKey { return mainSessionKey }
    let owner = GatewayKey.agent(agent ?? self.agent) ?? self.agent
    return (key ?? GatewayKey("main"))?
      .text(agent: owner, mainKey: mainKey, isGlobal: isGlobal) ?? mainKey
  }
}
