import Core

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
