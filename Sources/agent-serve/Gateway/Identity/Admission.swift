import Core

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
