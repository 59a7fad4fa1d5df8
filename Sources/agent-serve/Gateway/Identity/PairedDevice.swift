import Core

/// A device that may come in.
struct PairedDevice: Equatable, Sendable {
  /// SHA-256 of the key, in hex.
  let id: String
  /// Raw, in base64url.
  let publicKey: String
  /// `cli`, `openclaw-ios`, ...
  let client: String
  let platform: String
  let name: String?
  /// What it was allowed.
  var scopes: Set<Scope>
  /// What it may show instead of the server's token.
  let token: String
  /// Milliseconds.
  var approvedAt: Int

  /// The scopes as texts, in the order of `Scope`.
  var scopeNames: [String] { Scope.allCases.filter(scopes.contains).map(\.rawValue) }
}
