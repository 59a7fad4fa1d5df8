import CLibc

/// The whole grammar of RFC 8259, on bytes: of any depth without recursion,
/// in time linear to the length.
///
/// Whether the bytes are valid UTF-8 is not asked.
public enum ScanValidator {
  /// Accepts one JSON value with optional white space around it.
  ///
  /// - Throws: `ScanFault`, the first one met.
  public static func validate(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    if let (fault, _) = firstFault(bytes) { throw fault }
  }

  /// The first fault of what should be one JSON value, and where it is.
  ///
  /// - Returns: the fault and its offset in bytes from 0: that of the byte
  ///   which cannot stand there, of the string that does not end, or the end.
  ///   Nil when there is none.
  public static func firstFault(
    _ bytes: UnsafeRawBufferPointer
  ) -> (fault: ScanFault, offset: Int)? {
    let (fault, place) = look(at: bytes, isAlone: true)
    return fault.map { ($0, place) }
  }

  /// Looks at the value that the bytes begin with. Returns nil and where it ends; or its first
  /// fault and where that is, see `firstFault`.
  ///
  /// - Parameter isAlone: whether nothing may stand behind it.
  static func look(
    at bytes: UnsafeRawBufferPointer, isAlone: Bool
  ) -> (fault: ScanFault?, place: Int) {
    var cursor = ScanCursor(bytes)
    let start = cursor.at
    do throws(ScanFault) {
      try walk(&cursor, isAlone: isAlone)
      return (nil, cursor.at - start)
    } catch {
      return (error, cursor.at - start)
    }
  }

  private static func walk(
    _ cursor: inout ScanCursor, isAlone: Bool
  ) throws(ScanFault) {
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
      default: try cursor.validWord()
      }
      if try closesAll(&cursor, &nesting) {
        if isAlone { try cursor.finish() }
        return
      }
    }
  }

  /// How deep objects and arrays are nested in a value.
  public static func depth(of bytes: UnsafeRawBufferPointer) -> Int { nesting(bytes).deepest }

  /// How many of them are open behind some bytes, and how many were at most; a string that does not
  /// end is the end.
  ///
  /// - Parameter depth: how many were open before.
  public static func nesting(
    _ bytes: UnsafeRawBufferPointer, from depth: Int = 0
  ) -> (last: Int, deepest: Int) {
    var cursor = ScanCursor(bytes)
    var (depth, deepest) = (depth, depth)
    while cursor.at < cursor.end {
      switch cursor.at.pointee {
      case UInt8(ascii: "\""):
        guard (try? cursor.skipString()) != nil else { return (depth, deepest) }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        deepest = max(deepest, depth)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      cursor.at += 1
    }
    return (depth, deepest)
  }

  /// Whether the bytes are one JSON value.
  public static func isValue(_ bytes: UnsafeRawBufferPointer) -> Bool { firstFault(bytes) == nil }

  /// Behind a value or an empty container: closes what ends here; true when nothing is open.
  private static func closesAll(
    _ cursor: inout ScanCursor, _ nesting: inout ScanNesting
  ) throws(ScanFault) -> Bool {
    while nesting.depth > 0 {
      cursor.skipWhite()
      guard cursor.at < cursor.end else { throw .unbalancedBrackets }
      let byte = cursor.at.pointee
      switch byte {
      case UInt8(ascii: ","):
        cursor.at += 1
        cursor.skipWhite()
        if nesting.isObject { try cursor.validKey() }
        return false
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard nesting.close(isObject: byte == UInt8(ascii: "}")) else { throw .unbalancedBrackets }
        cursor.at += 1
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

  @inline(__always)
  fileprivate mutating func validWord() throws(ScanFault) {
    var next = at
    if next.pointee == UInt8(ascii: "-") { next += 1 }
    let first = next
    while next < end, next.pointee &- 0x30 < 10 { next += 1 }
    let whole = next - first
    if whole > 0, end - next >= 2, next.pointee == UInt8(ascii: "."), next[1] &- 0x30 < 10 {
      next += 2
      while next < end, next.pointee &- 0x30 < 10 { next += 1 }
    }
    // No leading zero, and nothing behind the digits but what ends a value here.
    if next < end, whole == 1 || (whole > 1 && first.pointee != 0x30),
      next.pointee == UInt8(ascii: ",") || next.pointee == UInt8(ascii: "}")
        || next.pointee == UInt8(ascii: "]")
    {
      at = next
      return
    }
    try skipWord()
  }

  /// Crosses a string: known escapes only, no raw control characters.
  fileprivate mutating func validString() throws(ScanFault) {
    let start = at
    at += 1
    while at < end {
      skipPlain()
      guard at < end else { break }
      switch at.pointee {
      case 0x22:
        at += 1
        return
      case 0x5c:
        // Escapes come in runs: quoted text within quoted text.
        repeat {
          if end - at >= 2, Self.isShortEscape(at[1]) {
            at += 2
          } else {
            guard let length = Self.escapeLength(at, end) else { throw .badEscape }
            at += length
          }
        } while at < end && at.pointee == 0x5c
        // Where one is, there are more: the kernel knows them too.
        if let behind = clibc_scan_text(at, end) { at = behind }
      case 0..<0x20: throw .controlCharacter
      default: at += 1
      }
    }
    at = start
    throw .unterminatedString
  }

  @inline(__always)
  private static func isShortEscape(_ byte: UInt8) -> Bool {
    let upper: UInt64 = 1 << 0x02 | 1 << 0x0f | 1 << 0x3c  // from 0x20 on
    let lower: UInt64 = 1 << 0x02 | 1 << 0x06 | 1 << 0x0e | 1 << 0x12 | 1 << 0x14  // from 0x60 on
    if byte >= 0x60 { return byte < 0x80 && lower >> UInt64(byte - 0x60) & 1 == 1 }
    return byte >= 0x20 && upper >> UInt64(byte - 0x20) & 1 == 1
  }

  private static func escapeLength(
    _ at: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
  ) -> Int? {
    guard end - at >= 2 else { return nil }
    switch at[1] {
    case 0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74: return 2
    case UInt8(ascii: "u"):
      guard end - at >= 6 else { return nil }
      for index in 2..<6 {
        switch at[index] {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: continue
        default: return nil
        }
      }
      return 6
    default: return nil
    }
  }

  /// Crosses bytes that stand for themselves in a string, eight at a time; in a
  /// longer string the kernel goes on, over known escapes too.
  @inline(__always)
  private mutating func skipPlain() {
    var words = 0
    while end - at >= 8 {
      let word = UInt64(littleEndian: UnsafeRawPointer(at).loadUnaligned(as: UInt64.self))
      let found = Self.specials(word)
      if found != 0 {
        at += found.trailingZeroBitCount >> 3
        return
      }
      at += 8
      words += 1
      if words == 4, let behind = clibc_scan_text(at, end) { at = behind }
    }
  }

  /// The high bit of each byte that cannot stand in a string as it is (RFC 8259, section
  /// 7): a quote, a backslash or a control. Bytes behind the first such one may be marked
  /// falsely, by the borrow.
  @inlinable @inline(__always)
  package static func specials(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = word ^ (ones &* 0x22)
    let slashes = word ^ (ones &* 0x5c)
    let found =
      ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)
      | ((word &- (ones &* 0x20)) & ~word)
    return found & (ones &* 0x80)
  }
}
