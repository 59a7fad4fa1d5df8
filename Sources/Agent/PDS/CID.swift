/// What a record is called by its content: the SHA-256 of its DAG-CBOR, or any other CID of the
/// same form (Agent/PDS/CONTRACT.md 4).
public struct CID: Hashable, Sendable, CustomStringConvertible {
  /// `b` and base32 in lower case.
  public let description: String

  private static let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// - Parameter text: nil when it is not base32 behind a `b`, or absurdly short or long.
  public init?(_ text: String) {
    guard (8...256).contains(text.utf8.count), text.utf8.first == UInt8(ascii: "b"),
      text.utf8.allSatisfy({ Self.letters.contains($0) })
    else { return nil }
    description = text
  }

  /// `bytes`: in binary, without the zero that stands before it in CBOR.
  init(bytes: some Sequence<UInt8>) {
    var text = [UInt8(ascii: "b")]
    var (bits, count) = (UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(Self.letters[Int(bits >> UInt32(count) & 31)])
      }
      bits &= 1 << UInt32(count) - 1
    }
    if count > 0 { text.append(Self.letters[Int(bits << UInt32(5 - count) & 31)]) }
    description = String(decoding: text, as: UTF8.self)
  }

  init(of record: [UInt8]) { self = record.withUnsafeBytes { CID(of: $0) } }

  init(of record: UnsafeRawBufferPointer) { self.init(of: record, codec: 0x71) }

  /// That of a blob.
  init(ofBlob blob: [UInt8]) { self = blob.withUnsafeBytes { CID(of: $0, codec: 0x55) } }

  private init(of record: UnsafeRawBufferPointer, codec: UInt8) {
    self.init(bytes: [0x01, codec, 0x12, 0x20] + sha256(record))
  }

  /// Whether it has all its parts: version 1, a codec, and a hash as long as it says.
  var isWhole: Bool {
    guard let bytes, bytes.first == 1 else { return false }
    return bytes.withUnsafeBytes { bytes in
      var at = 0
      for _ in 0..<3 where (try? CARBlocks.number(bytes, &at)) == nil { return false }
      guard let length = try? CARBlocks.number(bytes, &at) else { return false }
      return length == bytes.count - at
    }
  }

  /// In binary; nil for what no base32 encoder writes.
  var bytes: [UInt8]? {
    var found: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for letter in description.utf8.dropFirst() {
      guard let value = Self.letters.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        found.append(UInt8(bits >> UInt32(count) & 255))
      }
      bits &= 1 << UInt32(count) - 1
    }
    return bits == 0 && count < 5 ? found : nil
  }
}
