import CCrypto

/// Base64 with padding and without blanks, as keys are written.
enum Base64 {
  static func encode(_ bytes: [UInt8]) -> String {
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text[..<Int(count)], as: UTF8.self)
  }

  /// - Returns: nil for anything that `encode` would not have written.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard !text.isEmpty, text.count % 4 == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    guard EVP_DecodeBlock(&bytes, Array(text), Int32(text.count)) == Int32(bytes.count) else {
      return nil
    }
    bytes.removeLast(min(2, text.suffix(2).count { $0 == UInt8(ascii: "=") }))
    return encode(bytes).utf8.elementsEqual(text) ? bytes : nil
  }
}
