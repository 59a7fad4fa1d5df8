import CCrypto
import Core
import Web

/// The voice server of a riff box (Agent/Riff/CONTRACT.md).
struct RiffBackend: AgentBackend {
  let name = "a riff voice server"
  let has: Set<AgentCapability> = [.call, .chat, .clips, .narration]
  let speaks: Set<AgentCapability> = [.clips, .narration]

  /// A signature of the body (Agent/Riff/CONTRACT.md 1): the secret itself never travels.
  func header(for token: Secret, on request: Request) -> Header {
    Header("X-Riff-Secret", Self.signature(of: request.body ?? [], token) ?? "")
  }

  func check(_ token: Secret) throws(Failure) {
    if Self.signature(of: [], token) == nil {
      throw Failure(token.source, "the secret is not 64 hexadecimal digits")
    }
  }

  /// The lower-case hexadecimal HMAC-SHA256 of a body (RFC 2104); nil unless 64 digits.
  private static func signature(of body: [UInt8], _ secret: Secret) -> String? {
    guard let key = bytes(secret.reveal()) else { return nil }
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    HMAC(EVP_sha256(), key, Int32(key.count), body, body.count, &digest, &count)
    return digest[..<Int(count)].hex
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
