/// Reads the parts of a message of SSH one after the other (RFC 4251, section 5): keys, what
/// ssh-agent says, control sockets.
struct WireReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// Bytes with their length in front; nil when there are fewer.
  mutating func string() -> ArraySlice<UInt8>? {
    guard rest.count >= 4 else { return nil }
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard length <= rest.count - 4 else { return nil }
    defer { rest = rest.dropFirst(4 + length) }
    return rest.dropFirst(4).prefix(length)
  }

  /// Four bytes, the highest first.
  mutating func word() -> Int? {
    guard rest.count >= 4 else { return nil }
    defer { rest = rest.dropFirst(4) }
    return rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func text() -> String? {
    guard let bytes = string(), bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func number() -> Int? {
    guard let bytes = string(), let first = bytes.first, first < 0x80 else { return nil }
    let digits = bytes.drop { $0 == 0 }
    guard let top = digits.first, bytes.count - digits.count <= 1 else { return nil }
    return digits.count * 8 - top.leadingZeroBitCount
  }
}

enum Wire {
  /// Takes bytes with their length in front off the front of others; nil until they are all there.
  static func next(_ bytes: inout [UInt8]) -> ArraySlice<UInt8>? {
    var reader = WireReader(bytes[...])
    guard let body = reader.string() else { return nil }
    bytes.removeFirst(4 + body.count)
    return body
  }

  /// Four bytes, the highest first.
  static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// Bytes with their length in front.
  static func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
    word(UInt32(bytes.count)) + bytes
  }
}
