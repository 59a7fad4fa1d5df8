import CCrypto
import Core

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
