import Core

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
