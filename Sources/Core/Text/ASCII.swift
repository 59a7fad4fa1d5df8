extension UInt8 {
  /// Whether it is a letter or a digit of ASCII.
  @inlinable public var isAlphanumeric: Bool {
    0x30...0x39 ~= self || 0x61...0x7a ~= self | 0x20
  }

  /// Whether it is one of these, `-` or `_`: what ids and codes are made of.
  public var isOfName: Bool { isAlphanumeric || self == 0x2d || self == 0x5f }
}

extension Sequence<UInt8> {
  /// In hexadecimal digits, with small letters.
  public var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}

extension [UInt8] {
  /// Sixteen bytes as a UUID is written (RFC 9562).
  public var uuid: String {
    [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { self[$0].hex }.joined(separator: "-")
  }
}
