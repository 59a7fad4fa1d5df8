import Core

/// `GET /api/public-https` (Agent/Clanky/CONTRACT.md 5.4).
enum Tunnel {
  /// Whether the agent can be reached through it: the address alone does not tell,
  /// for it stays when the tunnel has ended.
  static func isUp(_ tunnel: JSONValue) -> Bool {
    tunnel["enabled"]?.bool == true && tunnel["status"]?.string == "ready"
  }
}
