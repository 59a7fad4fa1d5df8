import Core

struct PairingRequest: Sendable {
  let id: String
  let device: PairedDevice
  /// Why it is asked for: `not-paired`, `scope-upgrade`.
  let reason: String
  let address: String
  /// Milliseconds.
  let time: Int

  var node: JSONNode {
    let head: JSONNode = ["requestId": .text(id)]
    return head.adding(device.node).adding(["remoteIp": .text(address), "ts": .number(time)])
  }
}

struct PairingRequests {
  private static let limit = 50
  private static let lifetime = 300_000

  private var requests: [PairingRequest] = []

  mutating func pending(now: Int) -> [PairingRequest] {
    requests.removeAll { now - $0.time > Self.lifetime }
    return requests
  }

  /// Adds a request. The same wish of the same device is the same request; another one
  /// takes the old one's place under a new id, so that nobody approves what was not shown. Returns
  /// the request, and whether it is new; nil when too many wait.
  mutating func add(
    _ device: PairedDevice, reason: String, address: String, now: Int
  ) -> (request: PairingRequest, isNew: Bool)? {
    if let known = pending(now: now).first(where: { $0.device.id == device.id }) {
      if known.device.scopes == device.scopes && known.device.name == device.name {
        return (known, false)
      }
      requests.removeAll { $0.id == known.id }
    }
    if requests.count >= Self.limit { return nil }
    let request = PairingRequest(
      id: Base64.random(bytes: 9), device: device, reason: reason, address: address, time: now)
    requests.append(request)
    return (request, true)
  }

  mutating func receive(_ id: String, now: Int) -> PairingRequest? {
    let found = pending(now: now).first { $0.id == id }
    requests.removeAll { $0.id == id }
    return found
  }
}

struct PairedDevice: Equatable, Sendable {
  /// SHA-256 of the key, in hex.
  let id: String
  /// Raw, in base64url.
  let publicKey: String
  let client: String
  let platform: String
  let name: String?
  var scopes: Set<Scope>
  /// What it may show instead of the server's token.
  let token: String
  /// Milliseconds.
  var approvedAt: Int

  var node: JSONNode {
    [
      "deviceId": .text(id), "publicKey": .text(publicKey), "displayName": .text(name),
      "platform": .text(platform), "clientId": .text(client), "role": "operator",
      "scopes": .texts(Scope.names(scopes)),
    ]
  }
}

extension ActionStore {
  /// The most devices that are kept: beyond it nobody new comes in.
  static let deviceLimit = 1000

  private static let deviceColumns =
    "id, public_key, client, platform, name, scopes, token, approved_at"

  func pairedDevices() async throws -> [PairedDevice] {
    try await read { db in
      try db.rows(sql: "SELECT \(Self.deviceColumns) FROM gateway_devices").map { row in
        let scopes: String = row[5]
        return PairedDevice(
          id: row[0], publicKey: row[1], client: row[2], platform: row[3], name: row[4],
          scopes: Set(scopes.split(separator: ",").compactMap { Scope(rawValue: String($0)) }),
          token: row[6], approvedAt: row[7])
      }
    }
  }

  /// Keeps a device; durable when it returns.
  func put(_ device: PairedDevice) async throws {
    try await write { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO gateway_devices (\(Self.deviceColumns))
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          device.id, device.publicKey, device.client, device.platform, device.name,
          Scope.names(device.scopes).joined(separator: ","), device.token, device.approvedAt,
        ])
    }
  }
}
