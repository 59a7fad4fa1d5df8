import Core

/// How bytes of a mail are written as letters (RFC 2045, section 6), read as far as it can be
/// made out: what is broken is passed over.
enum TransferCode {
  /// The bytes of base64. What is none of its letters is passed over; the first `=` ends it.
  static func base64(_ code: some Collection<UInt8>) -> [UInt8] {
    let end = UInt8(ascii: "=")
    var letters = code.prefix { $0 != end }.filter {
      $0.isAlphanumeric || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/")
    }
    if letters.count % 4 == 1 { letters.removeLast() }
    return letters.withUnsafeBytes { Base64.bytes(of: $0) }
      // Bits that belong to no byte stand at the end.
      ?? letters.dropLast(letters.count % 4).withUnsafeBytes { Base64.bytes(of: $0) } ?? []
  }

  /// The bytes of quoted-printable text.
  static func quotedPrintable(_ code: some Collection<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    let code = Array(code)
    var at = 0
    while at < code.count {
      let byte = code[at]
      at += 1
      guard byte == UInt8(ascii: "=") else {
        bytes.append(byte)
        continue
      }
      if at + 1 < code.count, let high = hex(code[at]), let low = hex(code[at + 1]) {
        bytes.append(high << 4 | low)
        at += 2
        continue
      }
      // Blanks may stand between the `=` and the end of the line that it takes away.
      var next = at
      while next < code.count, code[next].isBlank || code[next] == 13 { next += 1 }
      if next == code.count || code[next] == 10 { at = next + 1 } else { bytes.append(byte) }
    }
    return bytes
  }

  /// The bytes of the `Q` of an encoded word.
  static func wordQ(_ code: some Collection<UInt8>) -> [UInt8] {
    quotedPrintable(code.map { $0 == UInt8(ascii: "_") ? 0x20 : $0 })
  }

  private static func hex(_ letter: UInt8) -> UInt8? {
    switch letter {
    case 0x30...0x39: letter - 0x30
    case 0x41...0x46: letter - 0x41 + 10
    case 0x61...0x66: letter - 0x61 + 10
    default: nil
    }
  }
}
