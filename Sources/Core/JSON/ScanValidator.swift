/// The whole grammar of RFC 8259, on bytes: of any depth without recursion,
/// in time linear to the length.
///
/// Whether the bytes are valid UTF-8 is not asked.
public enum ScanValidator {
  /// Accepts one JSON value with optional white space around it.
  ///
  /// - Throws: `ScanFault`, the first one met.
  public static func validate(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    var cursor = ScanCursor(bytes)
    cursor.skipWhite()
    guard cursor.at < cursor.end else { throw .empty }
    var nesting = ScanNesting()
    while true {
      // At the start of a value.
      guard cursor.at < cursor.end else { throw .unbalancedBrackets }
      switch cursor.at.pointee {
      case UInt8(ascii: "{"):
        cursor.at += 1
        nesting.open(isObject: true)
        cursor.skipWhite()
        if !cursor.isAt("}") {
          try cursor.validKey()
          continue
        }
      case UInt8(ascii: "["):
        cursor.at += 1
        nesting.open(isObject: false)
        cursor.skipWhite()
        if !cursor.isAt("]") { continue }
      case UInt8(ascii: "\""): try cursor.validString()
      case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ":"):
        throw .expectedValue
      default: try cursor.skipWord()
      }
      if try closesAll(&cursor, &nesting) {
        try cursor.finish()
        return
      }
    }
  }

  /// Whether the bytes are one JSON value with optional white space around it.
  public static func isValue(_ bytes: UnsafeRawBufferPointer) -> Bool {
    do throws(ScanFault) {
      try validate(bytes)
      return true
    } catch {
      return false
    }
  }

  /// Behind a value, or at the bracket that closes an empty container: closes
  /// what ends here and steps to the next value. True when nothing is open.
  private static func closesAll(
    _ cursor: inout ScanCursor, _ nesting: inout ScanNesting
  ) throws(ScanFault) -> Bool {
    while nesting.depth > 0 {
      cursor.skipWhite()
      guard cursor.at < cursor.end else { throw .unbalancedBrackets }
      let byte = cursor.at.pointee
      cursor.at += 1
      switch byte {
      case UInt8(ascii: ","):
        cursor.skipWhite()
        if nesting.isObject { try cursor.validKey() }
        return false
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard nesting.close(isObject: byte == UInt8(ascii: "}")) else { throw .unbalancedBrackets }
      default: throw .expectedComma
      }
    }
    return true
  }
}

extension ScanCursor {
  fileprivate func isAt(_ character: Unicode.Scalar) -> Bool {
    at < end && at.pointee == UInt8(ascii: character)
  }

  /// Crosses a key and its colon, up to the value.
  fileprivate mutating func validKey() throws(ScanFault) {
    guard at < end else { throw .unbalancedBrackets }
    guard isAt("\"") else { throw .expectedKey }
    try validString()
    skipWhite()
    guard at < end else { throw .unbalancedBrackets }
    guard isAt(":") else { throw .expectedColon }
    at += 1
    skipWhite()
  }

  /// Crosses a string: known escapes only, no raw control characters.
  fileprivate mutating func validString() throws(ScanFault) {
    at += 1
    while at < end {
      skipPlain()
      guard at < end else { break }
      switch at.pointee {
      case 0x22:
        at += 1
        return
      case 0x5c:
        guard end - at >= 2 else { throw .unterminatedString }
        switch at[1] {
        case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74: at += 2
        case UInt8(ascii: "u"):
          at += 2
          for _ in 0..<4 {
            guard at < end else { throw .unterminatedString }
            switch at.pointee {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: at += 1
            default: throw .badEscape
            }
          }
        default: throw .badEscape
        }
      case 0..<0x20: throw .controlCharacter
      default: at += 1
      }
    }
    throw .unterminatedString
  }
  /// Crosses bytes that stand for themselves in a string, eight at a time.
  @inline(__always)
  private mutating func skipPlain() {
    while end - at >= 8 {
      let word = UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
      let found = Self.specials(word)
      if found != 0 {
        at += found.trailingZeroBitCount >> 3
        return
      }
      at += 8
    }
  }

  /// The high bit of each byte that is a quote, a backslash or a control. Bytes
  /// behind the first such one may be marked falsely, by the borrow.
  @inline(__always)
  private static func specials(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let slashes = word ^ (ones &* 0x5c)
    let found =
      ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
      | ((word &- (ones &* 0x20)) & ~word)
    return found & (ones &* 0x80)
  }
}
