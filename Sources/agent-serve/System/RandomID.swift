import Core

enum RandomID {
  /// A random UUID (RFC 9562, version 4), in lower case.
  static func make() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    return bytes.uuid
  }
}

/// Whether a text is of letters and digits of ASCII, `-` and `_`, so many at most.
func isPlainWord(_ text: String, atMost limit: Int) -> Bool {
  (1...limit).contains(text.utf8.count)
    && text.utf8.allSatisfy(\.isOfName)
}
