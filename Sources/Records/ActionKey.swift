public import Core

/// What tells one action from another across the spellings of the wire: its
/// time, kind, four ids and the first 2000 UTF-16 units of its content.
///
/// A row and the live action it came from have the same key (Agent/Clanky/CONTRACT.md 3.2: a live
/// action has no id, its values are those that the row's texts were made of,
/// and the row's content is cut at 2000). An empty text and none are the same.
/// Two equal actions of one millisecond have the same key too. It is a digest
/// of 128 bits, the same in every process.
public struct ActionKey: Hashable, Sendable {
  /// The digest's first half.
  public let high: UInt64
  /// The digest's second half.
  public let low: UInt64

  /// - Parameter scratch: memory for texts with escapes.
  public init(_ fields: ActionFields, scratch: ScanScratch = ScanScratch()) {
    defer { withExtendedLifetime(scratch) {} }
    var digest = SipHash128()
    digest.add(fields, scratch)
    (high, low) = digest.finish()
  }

  /// What makes two actions one, as bytes for another digest: the same for a row and the live
  /// action that it came from.
  public static func identity(of fields: ActionFields, scratch: ScanScratch) -> [UInt8] {
    defer { withExtendedLifetime(scratch) {} }
    var bytes = IdentityBytes()
    bytes.add(fields, scratch)
    return bytes.bytes
  }

  /// - Parameter text: any text, such as an id.
  public init(text: UnsafeRawBufferPointer) {
    var digest = SipHash128()
    digest.add(1)
    digest.add(text)
    digest.add(0xff)
    (high, low) = digest.finish()
  }

  /// The digest in hexadecimal digits, its halves joined by a dash.
  public var text: String { String(high, radix: 16) + "-" + String(low, radix: 16) }

  func pair(_ half: UInt64) -> ActionKey { ActionKey(high: high ^ half, low: low) }

  private init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

  private init(digest: inout SipHash128) { (high, low) = digest.finish() }

  /// The key of the same thing of one profile, which is another than every other's.
  func of(profile: UnsafeRawBufferPointer) -> ActionKey {
    var digest = SipHash128()
    digest.add(profile)
    digest.add(0xff)
    withUnsafeBytes(of: (high, low)) { digest.add($0) }
    return ActionKey(digest: &digest)
  }

  /// How much of a text fits: the bytes of its first UTF-16 units, and whether
  /// the cut goes through a surrogate pair, whose half then becomes U+FFFD.
  static func prefix(
    of text: UnsafeRawBufferPointer, units: Int
  ) -> (count: Int, isCut: Bool) {
    // A byte is never more than one unit.
    if text.count <= units { return (text.count, false) }
    var (index, used) = (0, 0)
    while index < text.count {
      let byte = text[index]
      if byte & 0xc0 != 0x80 {
        used += byte >= 0xf0 ? 2 : 1
        // One unit too many is the second of a pair.
        if used > units { return (index, byte >= 0xf0 && used == units + 1) }
      }
      index += 1
    }
    return (text.count, false)
  }
}

private protocol IdentityTaker {
  mutating func add(_ byte: UInt8)
  mutating func add(_ bytes: UnsafeRawBufferPointer)
}

private struct IdentityBytes: IdentityTaker {
  var bytes: [UInt8] = []
  mutating func add(_ byte: UInt8) { bytes.append(byte) }
  mutating func add(_ piece: UnsafeRawBufferPointer) { bytes.append(contentsOf: piece) }
}

extension SipHash128: IdentityTaker {}

extension IdentityTaker {
  @inline(__always)
  fileprivate mutating func add(_ fields: ActionFields, _ scratch: ScanScratch) {
    add(fields.createdAt, scratch)
    add(fields.kind, scratch)
    add(fields.guild, scratch)
    add(fields.channel, scratch)
    add(fields.message, scratch)
    add(fields.user, scratch)
    add(fields.content, scratch, units: 2000)
  }

  /// Adds what the row has of a value, at most so many UTF-16 units.
  fileprivate mutating func add(_ value: ScanValue, _ scratch: ScanScratch, units: Int = .max) {
    var left = units
    var isEmpty = true
    _ = value.giveStoredText(scratch) { text in
      if text.isEmpty { return true }
      if isEmpty { add(1) }
      isEmpty = false
      let (count, isCut) = ActionKey.prefix(of: text, units: left)
      add(UnsafeRawBufferPointer(rebasing: text[..<count]))
      // U+FFFD, where a pair was cut in two.
      if isCut { for byte: UInt8 in [0xef, 0xbf, 0xbd] { add(byte) } }
      if count < text.count { return false }
      // The pieces of an array share the room; a text is one piece.
      if value.isArray, left != .max {
        for byte in text where byte & 0xc0 != 0x80 { left -= byte >= 0xf0 ? 2 : 1 }
      }
      return true
    }
    // No text holds 0xff: what follows cannot be taken for a part of it.
    add(isEmpty ? 0 : 0xff)
  }
}

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

  @inline(__always)
  mutating func add(_ byte: UInt8) {
    pending |= UInt64(byte) << ((count & 7) * 8)
    count &+= 1
    if count & 7 == 0 {
      compress(pending)
      pending = 0
    }
  }

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
