import CCrypto

/// The public half of an nkey: what a server knows a user by (github.com/nats-io/nkeys).
///
/// A key is base32 (RFC 4648, without padding) of a prefix, 32 bytes of Ed25519, and their
/// CRC-16, the lower byte first.
enum BusKey {
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
  /// Five bits each: S for a seed, U for a user.
  private static let seedMark: UInt8 = 18 << 3
  private static let userMark: UInt8 = 20 << 3

  /// The line of a file that holds a seed: the first one that begins with `SU`.
  static func seed(in text: String) -> String? {
    text.split { $0.isNewline || $0 == " " }.first { $0.hasPrefix("SU") }.map(String.init)
  }

  /// The public half. Returns `U...`; nil for what is no user's seed.
  static func userKey(ofSeed seed: String) -> String? {
    guard let raw = decode(seed), raw.count == 36 else { return nil }
    let sum = UInt16(raw[34]) | UInt16(raw[35]) << 8
    guard crc(raw[..<34]) == sum, raw[0] & 0xf8 == seedMark else { return nil }
    // The second prefix is spread over the first two bytes.
    guard (raw[0] & 7) << 5 | raw[1] >> 3 == userMark else { return nil }
    let bytes = Array(raw[2..<34])
    guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
      return nil
    }
    defer { EVP_PKEY_free(key) }
    var half = [UInt8](repeating: 0, count: 32)
    var count = half.count
    guard EVP_PKEY_get_raw_public_key(key, &half, &count) == 1, count == 32 else { return nil }
    let body = [userMark] + half
    let check = crc(body[...])
    return encode(body + [UInt8(truncatingIfNeeded: check), UInt8(check >> 8)])
  }

  /// CRC-16/XMODEM.
  private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { crc, byte in
      (0..<8).reduce(crc ^ UInt16(byte) << 8) { crc, _ in
        crc & 0x8000 == 0 ? crc << 1 : crc << 1 ^ 0x1021
      }
    }
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var (bits, count) = (0 as UInt32, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(letters[Int(bits >> UInt32(count) & 31)])
      }
    }
    if count > 0 { text.append(letters[Int(bits << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (bits, count) = (0 as UInt32, 0)
    for letter in text.utf8 {
      guard let value = letters.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }
}
