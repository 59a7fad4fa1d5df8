import Core
import Records
import Web

/// One text frame from a gateway, by what it is (Agent/OpenClaw/CONTRACT.md 1). The slices are
/// valid as long as the frame's bytes are.
enum GatewayFrame {
  case event(GatewayEvent)
  /// The answer to a request; one may get two.
  case response(id: String, GatewayAnswer)
  case other

  private enum Member: Int, ScanName {
    case type, id, event, payload, error, seq, ok
    static let table = NameTable<Member>()
  }

  /// `mask` hides secrets in what a gateway says went wrong.
  init(_ bytes: UnsafeRawBufferPointer, _ mask: SecretMask) throws(ScanFault) {
    var fields = ScanFields<Member>()
    try fields.read(bytes)
    switch fields[.type].string {
    case "event":
      guard fields[.event].isString, let name = fields[.event].string else {
        self = .other
        return
      }
      self = .event(
        GatewayEvent(
          name: name, payload: fields[.payload], seq: Self.number(fields[.seq]), bytes: bytes))
    case "res":
      guard let id = fields[.id].string else {
        self = .other
        return
      }
      let ok = fields[.ok]
      let isFine = ok.string == "true" && ok.isString == false
      self = .response(
        id: id, isFine ? .success(fields[.payload]) : .failure(GatewayError(fields[.error], mask)))
    default: self = .other
    }
  }
}

extension GatewayFrame {
  /// A number among events; nil for what JavaScript could not count up to.
  private static func number(_ value: ScanValue) -> Int64? {
    guard value.isNumber, let number = value.string.flatMap({ Int64($0) }) else { return nil }
    return (0..<1 << 53).contains(number) ? number : nil
  }
}

typealias GatewayAnswer = Result<ScanValue, GatewayError>

struct GatewayEvent {
  let name: String
  let payload: ScanValue
  /// Its number among the broadcasts; nil for what is aimed at this connection.
  let seq: Int64?
  let bytes: UnsafeRawBufferPointer

  var frame: [UInt8] { Array(bytes) }

  var object: JSONValue? {
    guard payload.isObject else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}

/// Why a gateway refuses (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayError: Error, Equatable {
  /// The code at the top: `INVALID_REQUEST`, `UNAVAILABLE`, ...
  var code: String
  var message: String
  /// The code of the details, which is the more exact one.
  var detail: String?
  /// `not-paired`, `scope-upgrade`, `startup-sidecars`, ...
  var reason: String?
  var requestID: String?
  var nextStep: String?
  var missingScope: String?
  var expectedProtocol: Int64?
  /// Not before that many seconds.
  var retryAfter: Double?
  var isRetryable = false

  init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  init(_ value: ScanValue, _ mask: SecretMask = SecretMask([])) {
    let error = value.isObject ? try? JSONValue.parse(value.bytes) : nil
    let details = error?["details"]
    func word(_ value: JSONValue?) -> String? { value?.string(bytes: 400).map(mask.hide) }
    code = word(error?["code"]) ?? ""
    message = word(error?["message"]) ?? ""
    detail = word(details?["code"])
    reason = word(details?["reason"])
    requestID = word(details?["requestId"])
    nextStep = word(details?["recommendedNextStep"])
    missingScope = word(details?["missingScope"])
    expectedProtocol = details?["expectedProtocol"]?.integer
    let wait = error?["retryAfterMs"]?.number ?? details?["retryAfterMs"]?.number
    retryAfter = wait.map { min(max($0 / 1000, 0), 3600) }
    isRetryable = error?["retryable"]?.bool == true
  }

  var isPairing: Bool { detail == "PAIRING_REQUIRED" || code == "NOT_PAIRED" }

  /// Whether the gateway is only starting up.
  var isStarting: Bool { code == "UNAVAILABLE" && (retryAfter != nil || isRetryable) }

  /// Whether it is about a member of the request, which an early gateway may not know.
  func names(_ member: String) -> Bool { message.holds(member) }

  /// What it is for whoever asked.
  var failure: Failure {
    if detail == "MISSING_SCOPE" || code == "FORBIDDEN" || message.hasPrefix("missing scope") {
      return Failure(line, .denied)
    }
    let isLater = code == "UNAVAILABLE" || code == "AGENT_TIMEOUT" || isRetryable
    return Failure(line, isLater ? .temporary : .failure)
  }

  /// The reason for people: `pairing required (NOT_PAIRED)`.
  var line: String {
    let code = detail ?? code
    let scope = missingScope.flatMap { message.holds($0) ? nil : $0 }
    let words = [message, scope.map { "\($0) is missing" } ?? ""].filter { !$0.isEmpty }
      .joined(separator: ": ")
    switch (words.isEmpty, code.isEmpty) {
    case (false, false): return "\(words) (\(code))"
    case (false, true): return words
    case (true, false): return code
    case (true, true): return "refused without a reason"
    }
  }
}

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

/// How this suite introduces itself to a gateway (Agent/OpenClaw/CONTRACT.md 4).
struct GatewayHandshake {
  let identity: DeviceIdentity
  let scopes: [GatewayScope]
  let caps: [String]
  let token: Secret?
  let deviceToken: Secret?

  static let protocols = 3...4
  /// Ours in a list that gateways close.
  private static let client = "cli"
  private static let role = "operator"

  static var platform: String {
    #if os(macOS)
      "macos"
    #elseif os(Linux)
      "linux"
    #else
      "unix"
    #endif
  }

  /// Nil when nothing can be signed, for want of memory; `time` is the challenge's, milliseconds.
  func parameters(nonce: String, time: Int64) -> RecordText? {
    // Signed is the first token that is sent.
    let signed = (token ?? deviceToken)?.reveal() ?? ""
    let text = signedText(token: signed, nonce: nonce, time: time)
    guard let signature = identity.signature(of: text) else { return nil }
    let client = RecordText().string("id", Self.client).string("version", suiteVersion)
      .string("platform", Self.platform).string("mode", Self.client)
    let device = RecordText().string("id", identity.id)
      .string("publicKey", Base64.url(identity.publicKey))
      .string("signature", Base64.url(signature)).number("signedAt", time).string("nonce", nonce)
    let auth = RecordText().string("token", signed)
      .string("deviceToken", deviceToken?.reveal())
    return RecordText()
      .number("minProtocol", Self.protocols.lowerBound)
      .number("maxProtocol", Self.protocols.upperBound)
      .object("client", client).string("role", Self.role)
      .strings("scopes", scopes.map(\.rawValue)).strings("caps", caps)
      .object("auth", signed.isEmpty ? nil : auth)
      .string("userAgent", "agentutils/\(suiteVersion)").object("device", device)
  }

  /// What a device signs, in its third form; an empty `token` stands for none, and the last word for
  /// the family of the device.
  func signedText(token: String, nonce: String, time: Int64) -> String {
    let scopes = scopes.map(\.rawValue).joined(separator: ",")
    return [
      "v3", identity.id, Self.client, Self.client, Self.role, scopes, String(time), token, nonce,
      Self.platform, "",
    ].joined(separator: "|")
  }
}
