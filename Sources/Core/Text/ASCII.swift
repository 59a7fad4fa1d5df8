extension UInt8 {
  /// Whether it is a letter or a digit of ASCII.
  @inlinable public var isAlphanumeric: Bool {
    0x30...0x39 ~= self || 0x61...0x7a ~= self | 0x20
  }
}
