import CCrypto
import Core
import Records

/// Whether a client is let in, as far as what it sent and what is known of its device
/// can tell; whether its device is paired is asked after that.
struct Admission {
  static let protocols = 3...4
  /// How far a device's clock may be off, in milliseconds.
  private static let clockTolerance = 120_000

  let nonce: String
  /// When it was greeted, milliseconds.
  let greeted: Int
  /// The clock now, milliseconds.
  let now: Int
  /// The server's token, nil for a server that is open.
  let token: AccessToken?
  let isLocal: Bool
  let asksForDevices: Bool

  func protocolVersion(_ connect: ConnectRequest) throws(GatewayFault) -> Int {
    guard connect.protocols.overlaps(Self.protocols) else {
      throw GatewayFault(
        code: "INVALID_REQUEST", message: "protocol mismatch",
        details: [
          "code": "PROTOCOL_MISMATCH", "expectedProtocol": .number(Self.protocols.upperBound),
          "minimumProtocol": .number(Self.protocols.lowerBound),
        ], closeCode: CloseCode.protocolError)
    }
    return min(connect.protocols.upperBound, Self.protocols.upperBound)
  }

  /// Checks the proof of the device. Returns its key; nil for a client without a device, which may
  /// have none.
  func device(_ connect: ConnectRequest) throws(GatewayFault) -> DeviceKey? {
    guard let device = connect.device else {
      // On this machine a new device would be let in as well, unless a person is asked. OpenClaw's own
      // command comes without one.
      let hasSecret = token?.matches(connect.token) ?? true
      if isLocal, hasSecret, !asksForDevices { return nil }
      throw .refused(
        "DEVICE_IDENTITY_REQUIRED", "device identity required", reason: "device-identity-missing")
    }
    func require(_ isRight: Bool, _ code: String, _ what: String, _ reason: String)
      throws(GatewayFault)
    {
      if !isRight {
        throw .refused("DEVICE_AUTH_" + code, "device " + what, reason: "device-" + reason)
      }
    }
    guard let key = DeviceKey(device.publicKey) else {
      throw .refused(
        "DEVICE_AUTH_PUBLIC_KEY_INVALID", "device public key invalid", reason: "device-public-key")
    }
    try require(
      key.deviceID == device.id, "DEVICE_ID_MISMATCH", "identity mismatch", "id-mismatch")
    try require(
      device.signedAt == greeted || abs(device.signedAt - now) <= Self.clockTolerance,
      "SIGNATURE_EXPIRED", "signature expired", "signature-stale")
    try require(!device.nonce.isEmpty, "NONCE_REQUIRED", "nonce required", "nonce-missing")
    try require(device.nonce == nonce, "NONCE_MISMATCH", "nonce mismatch", "nonce-mismatch")
    try require(
      connect.signedTexts.contains { key.verifies(device.signature, of: $0) },
      "SIGNATURE_INVALID", "signature invalid", "signature")
    return key
  }

  /// Checks the secrets of a client: one shows the server's token, if it has one, or that of its
  /// device.
  func checkProof(_ connect: ConnectRequest, known: String?) throws(GatewayFault) {
    guard let token, !token.matches(connect.token) else { return }
    let known = known.map(AccessToken.init)
    // The official client sends a device's token as the gateway's when it has no other.
    if known?.matches(connect.deviceToken) == true || known?.matches(connect.token) == true {
      return
    }
    if connect.deviceToken != nil, connect.token == nil {
      throw .refused(
        "AUTH_DEVICE_TOKEN_MISMATCH", "unauthorized: device token mismatch",
        reason: "device_token_mismatch", next: "update_auth_credentials")
    }
    if connect.token != nil {
      throw .refused(
        "AUTH_TOKEN_MISMATCH", "unauthorized: gateway token mismatch", reason: "token_mismatch",
        next: known == nil ? "update_auth_credentials" : "retry_with_device_token")
    }
    if connect.password != nil {
      throw .refused(
        "AUTH_PASSWORD_NOT_CONFIGURED", "unauthorized: the gateway has no password",
        reason: "password_missing_config", next: "update_auth_configuration")
    }
    throw .refused(
      "AUTH_TOKEN_MISSING", "unauthorized: gateway token missing", reason: "token_missing",
      next: "update_auth_credentials")
  }
}

/// What a client says of itself when it connects (Agent/OpenClaw/CONTRACT.md 4).
struct ConnectRequest: Sendable {
  struct Device: Sendable {
    fileprivate let params: JSONValue

    var id: String { text("id") }
    var publicKey: String { text("publicKey") }
    var signature: String { text("signature") }
    var signedAt: Int { Int(params["signedAt"]?.integer ?? 0) }
    /// What the server gave; empty when the client left it out.
    var nonce: String { text("nonce") }

    private func text(_ name: String) -> String { params[name]?.string ?? "" }
  }

  let protocols: ClosedRange<Int>
  let device: Device?
  private let params: JSONValue

  init(_ params: JSONValue?) throws(GatewayFault) {
    guard let params else { throw .invalid("invalid connect params: none") }
    try Self.form.check(params, "invalid connect params")
    // Beside what is read here, a client may send a whole message full: that is not kept.
    var read = RecordText()
    for name in ["client", "role", "scopes", "caps", "auth", "device"] {
      read = read.json(name, params[name]?.compact())
    }
    self.params = JSONValue(read.bytes) ?? params
    let lowest = Int(params["minProtocol"]?.integer ?? 0)
    let highest = Int(params["maxProtocol"]?.integer ?? 0)
    guard lowest <= highest else {
      throw .invalid("invalid connect params: minProtocol is above maxProtocol")
    }
    protocols = lowest...highest
    device = self.params["device"].map { Device(params: $0) }
  }

  var clientID: String { client("id") ?? "" }
  var clientVersion: String { client("version") ?? "" }
  var mode: String { client("mode") ?? "" }
  var platform: String { client("platform") ?? "" }
  var displayName: String? { client("displayName") }
  /// As it was written, which is part of what is signed.
  var role: String { params["role"]?.string ?? "operator" }
  /// As they were written, in their order.
  var scopes: [String] { (params["scopes"]?.elements ?? []).compactMap(\.string) }
  var caps: [String] { (params["caps"]?.elements ?? []).compactMap(\.string) }
  var token: String? { secret("token") }
  var deviceToken: String? { secret("deviceToken") }
  var password: String? { secret("password") }

  private func client(_ name: String) -> String? { params["client"]?[name]?.string }

  private func secret(_ name: String) -> String? {
    params["auth"]?[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  var knownScopes: Set<Scope> { Set(scopes.compactMap(Scope.init(rawValue:))) }

  /// The texts that the device may have signed, the newest form first.
  var signedTexts: [String] {
    guard let device else { return [] }
    let middle = [
      device.id, clientID, mode, role, scopes.joined(separator: ","), "\(device.signedAt)",
      token ?? deviceToken ?? secret("bootstrapToken") ?? "", device.nonce,
    ]
    return [
      (["v3"] + middle + [Self.plain(platform), Self.plain(client("deviceFamily") ?? "")]),
      (["v2"] + middle),
    ].map { $0.joined(separator: "|") }
  }

  /// Trimmed, with the capitals of ASCII alone made small.
  private static func plain(_ text: String) -> String {
    String(
      decoding: text.trimmingBlanks().utf8.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 },
      as: UTF8.self)
  }

  private static let form: ClosedObject = [
    "minProtocol": .integer(1...1000), "maxProtocol": .integer(1...1000),
    "client": .object([
      "id": .word(clientIDs), "version": .name, "platform": .name, "mode": .word(modes),
      "displayName?": .name, "deviceFamily?": .name, "modelIdentifier?": .name,
      "instanceId?": .name,
    ]),
    "role?": .word(["operator", "node"]), "scopes?": .list(.name, atMost: 64),
    "caps?": .list(.words, atMost: 64),
    "auth?": .object([
      "token?": .words, "password?": .words, "deviceToken?": .words, "bootstrapToken?": .words,
    ]),
    "device?": .object([
      "id": .name, "publicKey": .name, "signature": .name, "signedAt": .count, "nonce?": .words,
    ]),
    "commands?": .list(.words, atMost: 1000), "permissions?": .anyObject, "pathEnv?": .words,
    "locale?": .words, "userAgent?": .words,
  ]

  private static let clientIDs = [
    "cli", "gateway-client", "webchat-ui", "openclaw-control-ui", "openclaw-tui", "webchat",
    "openclaw-macos", "openclaw-ios", "openclaw-watchos", "openclaw-android", "node-host",
    "openclaw-worker", "test", "fingerprint", "openclaw-probe",
  ]
  private static let modes = ["webchat", "cli", "ui", "backend", "node", "worker", "probe", "test"]
}

/// A device's public Ed25519 key (RFC 8032).
struct DeviceKey: Equatable, Sendable {
  /// The key, 32 bytes.
  let raw: [UInt8]

  /// What stands before the key in its DER form (RFC 8410).
  private static let header: [UInt8] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  init?(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline)
    if let first = lines.first, first == "-----BEGIN PUBLIC KEY-----" {
      let body = lines.dropFirst().prefix { !$0.hasPrefix("-----") }.joined()
      guard let der = Base64.bytes(url: body.utf8), der.starts(with: Self.header) else {
        return nil
      }
      raw = Array(der.dropFirst(Self.header.count))
    } else {
      guard let bytes = Base64.bytes(url: text.utf8) else { return nil }
      raw = bytes
    }
    if raw.count != 32 { return nil }
  }

  /// How devices are told apart: SHA-256 of the raw key in lower-case hex.
  var deviceID: String {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = SHA256(raw, raw.count, &digest)
    return digest.hex
  }

  /// Whether a signature over a text was made with this key's other half.
  func verifies(_ signature: String, of text: String) -> Bool {
    guard let signature = Base64.bytes(url: signature.utf8), signature.count == 64,
      let key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, raw, raw.count)
    else { return false }
    defer { EVP_PKEY_free(key) }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    let bytes = Array(text.utf8)
    return EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }
}

/// After some wrong secrets in a minute the next ones are not even looked at.
struct FailureCount {
  private static let limit = 10
  private static let span = 60_000
  private static let mostNames = 1000

  private var failures: [String: (count: Int, since: Int)] = [:]

  /// How long somebody has to wait, milliseconds; nil for who may try.
  func wait(_ name: String, now: Int) -> Int? {
    guard let known = failures[name], known.count >= Self.limit, now - known.since < Self.span
    else { return nil }
    return known.since + Self.span - now
  }

  mutating func note(_ name: String, now: Int) {
    if let known = failures[name], now - known.since < Self.span {
      failures[name] = (known.count + 1, known.since)
      return
    }
    if failures.count >= Self.mostNames {
      failures = failures.filter { now - $0.value.since < Self.span }
    }
    // So many at a time are no misunderstanding: all of them begin again.
    if failures.count >= Self.mostNames { failures = [:] }
    failures[name] = (1, now)
  }
}
