import CCrypto

/// What people compare keys by.
public enum Fingerprint {
  /// The SHA-256 of a key as OpenSSH writes it: `SHA256:` and base64 without padding.
  ///
  /// - Parameter blob: the key in its wire form.
  public static func sha256(_ blob: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    SHA256(blob, blob.count, &digest)
    return "SHA256:" + Base64.encode(digest).prefix { $0 != "=" }
  }
}
