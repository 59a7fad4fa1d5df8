import Core
import Records
import Web

/// How this suite introduces itself to a gateway (Agent/OpenClaw/CONTRACT.md 4).
struct GatewayHandshake {
  let identity: DeviceIdentity
  let scopes: [GatewayScope]
  /// What else is to be sent here, such as `tool-events`.
  let caps: [String]
  /// The gateway's own token, of the profile.
  let token: Secret?
  /// What the gateway gave this device before.
  let deviceToken: Secret?

  /// The oldest and the newest protocol that are understood.
  static let protocols = 3...4
  /// Ours in a list that gateways close.
  private static let client = "cli"
  private static let role = "operator"

  private static var platform: String {
    #if os(macOS)
      "macos"
    #elseif os(Linux)
      "linux"
    #else
      "unix"
    #endif
  }

  /// The parameters of `connect`.
  ///
  /// - Parameters:
  ///   - nonce: of the challenge.
  ///   - time: of the challenge, milliseconds since 1970.
  /// - Returns: nil when nothing can be signed, for want of memory.
  func parameters(nonce: String, time: Int64) -> RecordText? {
    let words = scopes.map(\.rawValue)
    // Signed is the first token that is sent.
    let signed = (token ?? deviceToken)?.reveal() ?? ""
    let text = Self.signedText(
      device: identity.id, client: Self.client, mode: Self.client, role: Self.role,
      scopes: words, time: time, token: signed, nonce: nonce, platform: Self.platform)
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
      .json("client", client.text).string("role", Self.role)
      .json("scopes", Self.list(words)).json("caps", Self.list(caps))
      .json("auth", signed.isEmpty ? nil : auth.text)
      .string("userAgent", "agentutils/\(suiteVersion)").json("device", device.text)
  }

  /// What a device signs, in its third form.
  ///
  /// - Parameters:
  ///   - scopes: in the order in which they are sent.
  ///   - time: milliseconds since 1970, the challenge's.
  ///   - token: empty for none.
  static func signedText(
    device: String, client: String, mode: String, role: String, scopes: [String], time: Int64,
    token: String, nonce: String, platform: String, family: String = ""
  ) -> String {
    [
      "v3", device, client, mode, role, scopes.joined(separator: ","), String(time), token, nonce,
      platform.lowercased(), family.lowercased(),
    ].joined(separator: "|")
  }

  private static func list(_ words: [String]) -> String {
    "[\(words.map(JSONQuote.string).joined(separator: ","))]"
  }
}

/// What a refused `connect` means (Agent/OpenClaw/CONTRACT.md 5).
enum GatewayRefusal: Equatable {
  /// A person is to approve this device on the gateway first.
  case pairing(words: String)
  /// A stored device token is of no use any more; without it the next try may do.
  case staleToken
  /// A later try may do, not before that many seconds.
  case later(String, after: Double?)
  /// No later try would do.
  case final(AnswerProblem)

  /// - Parameters:
  ///   - error: the gateway's.
  ///   - usedStored: whether a device token was sent.
  ///   - usedToken: whether the profile's token was sent.
  init(_ error: GatewayError, usedStored: Bool, usedToken: Bool) {
    if error.isPairing {
      self = .pairing(words: Self.words(error))
      return
    }
    if error.isStarting || error.nextStep == "wait_then_retry" {
      self = .later(error.line, after: error.retryAfter)
      return
    }
    switch error.detail ?? error.code {
    case "PROTOCOL_MISMATCH":
      let wanted = error.expectedProtocol.map { "protocol \($0)" } ?? "another protocol"
      self = .final(
        AnswerProblem("the gateway wants \(wanted); this version speaks 3 and 4", .failure))
    case "AUTH_RATE_LIMITED": self = .later(error.line, after: error.retryAfter)
    case "AUTH_DEVICE_TOKEN_MISMATCH" where usedStored, "AUTH_SCOPE_MISMATCH" where usedStored:
      self = .staleToken
    // Without a token of its own the device's went in its place.
    case "AUTH_TOKEN_MISMATCH" where usedStored && !usedToken: self = .staleToken
    case let code where code.hasPrefix("DEVICE_"):
      self = .final(AnswerProblem(error.line, .failure))
    case let code where code.hasPrefix("AUTH_"): self = .final(AnswerProblem(error.line, .denied))
    case "UNAVAILABLE", "AGENT_TIMEOUT": self = .later(error.line, after: error.retryAfter)
    case "FORBIDDEN", "MISSING_SCOPE", "NOT_LINKED":
      self = .final(AnswerProblem(error.line, .denied))
    default: self = .final(AnswerProblem(error.line, .failure))
    }
  }

  /// `not paired: run on the gateway: openclaw devices approve pr-9`.
  private static func words(_ error: GatewayError) -> String {
    let why =
      switch error.reason {
      case "role-upgrade", "scope-upgrade": "this device wants more than it was approved for"
      case "metadata-upgrade": "this device has changed and is to be approved again"
      default: "this device is not paired"
      }
    // What is to be typed into a shell must be nothing but a word.
    let id = error.requestID.flatMap { id in
      id.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0)
          || (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x5f || $0 == 0x2e
      } && !id.isEmpty && !id.hasPrefix("-") ? id : nil
    }
    return id.map { "\(why): run on the gateway: openclaw devices approve \($0)" }
      ?? "\(why): run on the gateway: openclaw devices list"
  }
}
