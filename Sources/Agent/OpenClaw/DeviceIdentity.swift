import CCrypto
import CLibc
public import Core

/// The Ed25519 key by which gateways know this user (RFC 8032; Agent/OpenClaw/CONTRACT.md 4).
///
/// It is made once and kept in the state folder, for its owner alone: the official
/// tools' key is not shared, for two users of one key lose each other's tokens.
public final class DeviceIdentity {
  /// The raw public key, 32 bytes.
  public let publicKey: [UInt8]
  private let key: OpaquePointer

  /// The length of seed and public key, bytes.
  private static let length = 32
  /// What stands before the seed in PKCS#8 (RFC 8410, section 7).
  private static let prefix: [UInt8] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  private static let head = "-----BEGIN PRIVATE KEY-----"
  private static let tail = "-----END PRIVATE KEY-----"

  /// - Parameter seed: the private key, 32 bytes.
  /// - Returns: nil for another length, or without memory.
  public init?(seed: [UInt8]) {
    guard seed.count == Self.length,
      let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    else { return nil }
    var raw = [UInt8](repeating: 0, count: Self.length)
    var count = raw.count
    guard EVP_PKEY_get_raw_public_key(key, &raw, &count) == 1, count == raw.count else {
      EVP_PKEY_free(key)
      return nil
    }
    self.key = key
    publicKey = raw
  }

  deinit { EVP_PKEY_free(key) }

  /// The device's id: the SHA-256 of the raw public key, in lower-case hex.
  public var id: String {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(publicKey, publicKey.count, &digest)
    return digest.hex
  }

  /// The signature of a text, 64 bytes; nil without memory. The same for the same text.
  public func signature(of text: String) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    let bytes = Array(text.utf8)
    guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, count == 64
    else { return nil }
    return signature
  }

  // MARK: - On disk

  /// The user's key, made if there is none yet.
  ///
  /// - Throws: `Failure` for a file that others can read (`denied`), that is no
  ///   such key, or cannot be written.
  public static func own(in folders: Folders) throws(Failure) -> DeviceIdentity {
    try Folders.make(folder(in: folders))
    let path = Folders.join(folder(in: folders), "device.pem")
    if let found = try read(path) { return found }
    var seed = [UInt8](repeating: 0, count: length)
    guard RAND_bytes(&seed, Int32(seed.count)) == 1, let made = DeviceIdentity(seed: seed) else {
      throw Failure(path, "no random bytes to be had")
    }
    // Of two that make one at the same time the first wins: a link is never replaced.
    let temporary = "\(path).\(getpid())"
    unlink(temporary)
    try StateFile(path: temporary).replace(with: Array(pem(seed).utf8))
    defer { unlink(temporary) }
    if link(temporary, path) == 0 { return made }
    guard systemError == EEXIST else { throw Failure(path, systemReason(systemError)) }
    guard let found = try read(path) else { throw Failure(path, "it came and went") }
    return found
  }

  static func folder(in folders: Folders) -> String { Folders.join(folders.state, "openclaw") }

  private static func read(_ path: String) throws(Failure) -> DeviceIdentity? {
    guard let bytes = try StateFile(path: path).read(limit: 4096) else { return nil }
    if let status = stat(following: path), status.st_mode & 0o077 != 0 {
      throw Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    }
    guard let seed = seed(pem: String(decoding: bytes, as: UTF8.self)),
      let identity = DeviceIdentity(seed: seed)
    else { throw Failure(path, "not an Ed25519 key in PKCS#8") }
    return identity
  }

  /// The key as `openssl pkey` writes it.
  static func pem(_ seed: [UInt8]) -> String {
    "\(head)\n\(Base64.text(prefix + seed))\n\(tail)\n"
  }

  static func seed(pem: String) -> [UInt8]? {
    let lines = pem.split(whereSeparator: \.isNewline)
    guard lines.count > 2, lines.first == head[...], lines.last == tail[...],
      let der = Base64.bytes(lines.dropFirst().dropLast().joined().utf8), der.starts(with: prefix),
      der.count == prefix.count + length
    else { return nil }
    return Array(der[prefix.count...])
  }
}
