import CCrypto
import Core

/// What the voice server and its clients know, and nobody else (Agent/Riff/CONTRACT.md 1).
struct RiffSecret: Sendable {
  private let key: [UInt8]

  init?(_ text: String) {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    key = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  static func isSignature(_ given: String?) -> Bool {
    guard let digits = given?.utf8, digits.count == 64 else { return false }
    return digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Whether somebody who knows the secret made a body.
  func signs(_ body: [UInt8], as given: String?) -> Bool {
    AccessToken(signature(of: body)).matches(given)
  }

  /// The lower-case hexadecimal HMAC-SHA256 of a body (RFC 2104).
  func signature(of body: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    HMAC(EVP_sha256(), key, Int32(key.count), body, body.count, &digest, &count)
    return digest[..<Int(count)].hex
  }
}
