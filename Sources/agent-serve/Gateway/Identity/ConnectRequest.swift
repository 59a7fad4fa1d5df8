import Core

/// What a client says of itself when it connects (Agent/OpenClaw/CONTRACT.md 4).
struct ConnectRequest: Sendable {
  struct Device: Sendable {
    let id: String
    let publicKey: String
    let signature: String
    let signedAt: Int
    /// What the server gave; empty when the client left it out.
    let nonce: String
  }

  let protocols: ClosedRange<Int>
  let device: Device?
  private let params: JSONValue

  init(_ params: JSONValue?) throws(GatewayFault) {
    guard let params else { throw .invalid("invalid connect params: none") }
    try Self.form.check(params, "invalid connect params")
    self.params = params
    let lowest = Int(params["minProtocol"]?.integer ?? 0)
    let highest = Int(params["maxProtocol"]?.integer ?? 0)
    guard lowest <= highest else {
      throw .invalid("invalid connect params: minProtocol is above maxProtocol")
    }
    protocols = lowest...highest
    device = params["device"].map { device in
      Device(
        id: device["id"]?.string ?? "", publicKey: device["publicKey"]?.string ?? "",
        signature: device["signature"]?.string ?? "",
        signedAt: Int(device["signedAt"]?.integer ?? 0), nonce: device["nonce"]?.string ?? "")
    }
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
