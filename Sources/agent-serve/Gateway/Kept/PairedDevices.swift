import Core

extension ActionStore {
  /// The most devices that are kept: beyond it nobody new comes in.
  static let deviceLimit = 1000

  func pairedDevices() async throws -> [PairedDevice] {
    try await read { db in
      try db.rows(sql: "SELECT * FROM gateway_devices").map { row in
        let scopes: String = row["scopes"]
        return PairedDevice(
          id: row["id"], publicKey: row["public_key"], client: row["client"],
          platform: row["platform"], name: row["name"],
          scopes: Set(scopes.split(separator: ",").compactMap { Scope(rawValue: String($0)) }),
          token: row["token"], approvedAt: row["approved_at"])
      }
    }
  }

  /// Keeps a device; durable when it returns.
  func put(_ device: PairedDevice) async throws {
    try await write { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO gateway_devices
            (id, public_key, client, platform, name, scopes, token, approved_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          device.id, device.publicKey, device.client, device.platform, device.name,
          device.scopeNames.joined(separator: ","), device.token, device.approvedAt,
        ])
    }
  }
}
