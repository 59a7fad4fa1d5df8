/// Base64 (RFC 4648): with its padding (section 4), or with the letters of URLs and without
/// it (section 5).
public enum Base64 {
  private static let letters: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// Adds the code of all the bytes at the end of a buffer.
  public static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) {
    // A part at a time lies in the cache, and its size has no remainder of three.
    let part = 3 << 12
    var code = [UInt8](repeating: 0, count: min(bytes.count + 2, part) / 3 * 4)
    var start = 0
    while start < bytes.count {
      let end = min(start + part, bytes.count)
      let count = encode(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), into: &code)
      code.withUnsafeBytes { buffer.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      start = end
    }
  }

  /// The code of the bytes.
  public static func text(_ bytes: [UInt8]) -> String {
    var buffer = ByteBuffer()
    bytes.withUnsafeBytes { append($0, to: &buffer) }
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  /// The code of the bytes with the letters of URLs, without padding.
  public static func url(_ bytes: [UInt8]) -> String {
    let code = text(bytes).utf8.lazy.filter { $0 != padding }.map { letter in
      switch letter {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: letter
      }
    }
    return String(decoding: Array(code), as: UTF8.self)
  }

  /// So many random bytes with the letters of URLs: a token, a nonce.
  public static func random(bytes count: Int) -> String {
    // Swift's own source is the system's (getrandom, arc4random).
    url((0..<count).map { _ in UInt8.random(in: 0...255) })
  }

  /// The bytes that a code with padding stands for.
  ///
  /// - Returns: nil for anything that `text` would not have written.
  public static func bytes(_ code: some BidirectionalCollection<UInt8>) -> [UInt8]? {
    let isOfURLs = code.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    if isOfURLs || code.count % 4 != 0 { return nil }
    return code.withContiguousStorageIfAvailable { bytes(of: UnsafeRawBufferPointer($0)) }
      ?? bytes(url: code)
  }

  /// The bytes that a code stands for, see `bytes(of:)`.
  public static func bytes(url code: some Sequence<UInt8>) -> [UInt8]? {
    Array(code).withUnsafeBytes { bytes(of: $0) }
  }

  private static func encode(_ bytes: UnsafeRawBufferPointer, into code: inout [UInt8]) -> Int {
    letters.withUnsafeBufferPointer { letters in
      code.withUnsafeMutableBufferPointer { code in
        var place = 0
        var next = 0
        while bytes.count - next >= 3 {
          let group = Int(bytes[next]) << 16 | Int(bytes[next + 1]) << 8 | Int(bytes[next + 2])
          code[place] = letters[group >> 18]
          code[place + 1] = letters[group >> 12 & 63]
          code[place + 2] = letters[group >> 6 & 63]
          code[place + 3] = letters[group & 63]
          next += 3
          place += 4
        }
        if next == bytes.count { return place }
        let hasTwo = bytes.count - next == 2
        let group = Int(bytes[next]) << 16 | (hasTwo ? Int(bytes[next + 1]) << 8 : 0)
        code[place] = letters[group >> 18]
        code[place + 1] = letters[group >> 12 & 63]
        code[place + 2] = hasTwo ? letters[group >> 6 & 63] : UInt8(ascii: "=")
        code[place + 3] = UInt8(ascii: "=")
        return place + 4
      }
    }
  }

  /// The value of each letter of either alphabet; 64 for what is none.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    values[Int(UInt8(ascii: "-"))] = 62
    values[Int(UInt8(ascii: "_"))] = 63
    return values
  }()

  /// The bytes that a code stands for, with or without padding, in either of the two
  /// alphabets.
  ///
  /// - Returns: nil for anything else.
  public static func bytes(of code: UnsafeRawBufferPointer) -> [UInt8]? {
    var count = code.count
    while count > 0, code[count - 1] == UInt8(ascii: "=") { count -= 1 }
    guard code.count - count <= 2, count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    // All at once: whoever wipes a secret can only wipe what is left of it at the end.
    bytes.reserveCapacity(count / 4 * 3 + 2)
    var bits: UInt32 = 0
    let isCode = values.withUnsafeBufferPointer { values in
      for index in 0..<count {
        let value = values[Int(code[index])]
        if value == 64 { return false }
        bits = bits << 6 | UInt32(value)
        if index & 3 == 3 {
          bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
          bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
          bytes.append(UInt8(truncatingIfNeeded: bits))
        }
      }
      return true
    }
    guard isCode else { return nil }
    // Bits behind the last byte would be another code of it.
    switch count & 3 {
    case 2 where bits & 0xf != 0, 3 where bits & 3 != 0: return nil
    case 2: bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
    case 3:
      bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
      bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
    default: break
    }
    return bytes
  }
}
