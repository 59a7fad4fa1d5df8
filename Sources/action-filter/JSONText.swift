/// Text as a JSON string.
enum JSONText {
  /// Quotes UTF-8; what is no valid UTF-8 becomes U+FFFD.
  static func quoted(_ text: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x22]
    for byte in String(decoding: text, as: UTF8.self).utf8 {
      switch byte {
      case 0x22, 0x5c: out += [0x5c, byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        out += "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8
      default: out.append(byte)
      }
    }
    return out + [0x22]
  }
}
