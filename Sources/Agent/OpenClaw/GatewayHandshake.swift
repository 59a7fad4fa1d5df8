import Core
import Records
import Web

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

  private static var platform: String {
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

  /// What a device signs, in its third form; an empty `token` stands for none.
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
