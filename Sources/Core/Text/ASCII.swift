extension UInt8 {
  /// Whether it is a letter or a digit of ASCII.
  @inlinable public var isAlphanumeric: Bool {
    0x30...0x39 ~= self || 0x61...0x7a ~= self | 0x20
  }

  /// Whether it is a blank of a line: a space, a tab or a carriage return.
  public var isBlank: Bool { self == 0x20 || self == 9 || self == 13 }

  /// Whether it is a letter, a digit, `-` or `_`: what ids and codes are made of.
  public var isOfName: Bool { isAlphanumeric || self == 0x2d || self == 0x5f }
}

extension Sequence<UInt8> {
  /// In hexadecimal digits, with small letters.
  public var hex: String { map { $0.digits(2, radix: 16) }.joined() }
}

extension BinaryInteger {
  /// Its digits, with as many zeros in front as a width wants; of a number that is not negative.
  public func digits(_ width: Int, radix: Int = 10) -> String {
    let digits = String(self, radix: radix)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

extension String {
  /// A sentence of another program's in the middle of ours: its first letter is a small one, but
  /// for an acronym's (`I/O error`).
  public var lowercasedFirst: String {
    guard let first else { return self }
    if let second = dropFirst().first, second.isUppercase || second.isPunctuation { return self }
    return first.lowercased() + dropFirst()
  }

  /// As one word of a shell's command line.
  public var shellQuoted: String { "'" + exchanging("'", for: "'\\''") + "'" }
}

extension [UInt8] {
  /// Sixteen bytes as a UUID is written (RFC 9562).
  public var uuid: String {
    [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { self[$0].hex }.joined(separator: "-")
  }
}

/// A random UUID (RFC 9562, version 4), in lower case.
public func randomUUID() -> String {
  var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
  bytes[6] = bytes[6] & 0x0f | 0x40
  bytes[8] = bytes[8] & 0x3f | 0x80
  return bytes.uuid
}
