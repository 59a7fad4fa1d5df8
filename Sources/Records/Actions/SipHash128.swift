import Core

/// SipHash-2-4 with a result of 128 bits and a fixed key: a digest that is
/// quick on short texts, and the same in every process.
///
/// Aumasson, Bernstein: SipHash, a fast short-input PRF (2012), and its
/// reference code's 128-bit form.
struct SipHash128 {
  private var v0: UInt64 = 0x736f_6d65_7073_6575
  private var v1: UInt64 = 0x646f_7261_6e64_6f6d ^ 0xee
  private var v2: UInt64 = 0x6c79_6765_6e65_7261
  private var v3: UInt64 = 0x7465_6462_7974_6573
  private var pending: UInt64 = 0
  private var count: UInt64 = 0

  init(key: (UInt64, UInt64) = (0, 0)) {
    v0 ^= key.0
    v1 ^= key.1
    v2 ^= key.0
    v3 ^= key.1
  }

  /// Adds one byte.
  @inline(__always)
  mutating func add(_ byte: UInt8) {
    pending |= UInt64(byte) << ((count & 7) * 8)
    count &+= 1
    if count & 7 == 0 {
      compress(pending)
      pending = 0
    }
  }

  /// Adds bytes.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var index = 0
    while index < bytes.count && count & 7 != 0 {
      add(bytes[index])
      index += 1
    }
    while bytes.count - index >= 8 {
      compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
      count &+= 8
      index += 8
    }
    while index < bytes.count {
      add(bytes[index])
      index += 1
    }
  }

  /// The two halves of the digest.
  mutating func finish() -> (UInt64, UInt64) {
    compress(pending | count << 56)
    v2 ^= 0xee
    for _ in 0..<4 { round() }
    let high = v0 ^ v1 ^ v2 ^ v3
    v1 ^= 0xdd
    for _ in 0..<4 { round() }
    return (high, v0 ^ v1 ^ v2 ^ v3)
  }

  @inline(__always)
  private mutating func compress(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  @inline(__always)
  private mutating func round() {
    func rotate(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
    v0 &+= v1
    v1 = rotate(v1, 13) ^ v0
    v0 = rotate(v0, 32)
    v2 &+= v3
    v3 = rotate(v3, 16) ^ v2
    v0 &+= v3
    v3 = rotate(v3, 21) ^ v0
    v2 &+= v1
    v1 = rotate(v1, 17) ^ v2
    v2 = rotate(v2, 32)
  }
}
