public import CLibc

/// A position in JSON bytes and the steps that a walk is made of.
///
/// Strings are crossed with memchr(3) from quote to quote; containers by
/// counting brackets, without recursion. Nothing is allocated below a nesting
/// of 64. What is crossed is checked for closed strings and balanced brackets,
/// not for the whole grammar: see `ScanValidator` for that.
public struct ScanCursor {
  /// The next byte; must not be moved beyond the end.
  public var at: UnsafePointer<UInt8>
  /// Behind the last byte.
  public let end: UnsafePointer<UInt8>

  @inlinable @inline(__always)
  public init(_ bytes: UnsafeRawBufferPointer) {
    at = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? ScanValue.nothing
    end = at + bytes.count
  }

  /// Crosses JSON's white space: space, tab, LF, CR.
  @inlinable @inline(__always)
  public mutating func skipWhite() {
    while at < end, at.pointee <= 0x20,
      at.pointee == 0x20 || at.pointee == 0x0a || at.pointee == 0x0d || at.pointee == 0x09
    { at += 1 }
  }

  /// Crosses the opening bracket of an object.
  @inlinable @inline(__always)
  public mutating func enterObject() throws(ScanFault) {
    skipWhite()
    guard at < end else { throw .empty }
    guard at.pointee == UInt8(ascii: "{") else { throw .notAnObject }
    at += 1
  }

  /// Crosses the next key and its colon, and stops at its value; nil, and past
  /// the closing bracket, when there is no further member. Returns the key's bytes between the
  /// quotes.
  @inlinable @inline(__always)
  public mutating func nextKey(_ isFirst: inout Bool) throws(ScanFault) -> ScanValue? {
    skipWhite()
    guard at < end else { throw .unbalancedBrackets }
    if at.pointee == UInt8(ascii: "}") {
      at += 1
      return nil
    }
    if !isFirst {
      guard at.pointee == UInt8(ascii: ",") else {
        throw at.pointee == UInt8(ascii: "]") ? .unbalancedBrackets : .expectedComma
      }
      at += 1
      skipWhite()
      guard at < end else { throw .unbalancedBrackets }
    }
    isFirst = false
    guard at.pointee == UInt8(ascii: "\"") else { throw .expectedKey }
    let start = at + 1
    try skipString()
    let key = ScanValue(start: start, count: at - 1 - start)
    skipWhite()
    guard at < end else { throw .unbalancedBrackets }
    guard at.pointee == UInt8(ascii: ":") else { throw .expectedColon }
    at += 1
    skipWhite()
    return key
  }

  /// Crosses one value of any type and returns its bytes.
  @inlinable @inline(__always)
  public mutating func value() throws(ScanFault) -> ScanValue {
    let start = at
    guard at < end else { throw .unbalancedBrackets }
    switch at.pointee {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "{"), UInt8(ascii: "["): try skipContainer()
    default: try skipWord()
    }
    return ScanValue(start: start, count: at - start)
  }

  /// Accepts nothing but white space up to the end.
  @inlinable @inline(__always)
  public mutating func finish() throws(ScanFault) {
    skipWhite()
    guard at == end else { throw .textAfterValue }
  }

  /// Crosses a string; `at` is its opening quote.
  @inlinable @inline(__always)
  public mutating func skipString() throws(ScanFault) {
    let start = at + 1
    var from = start
    while let found = memchr(from, 0x22, end - from) {
      let quote = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
      // An even number of backslashes before it escape each other.
      var slashes = quote
      while slashes > start, slashes[-1] == 0x5c { slashes -= 1 }
      if (quote - slashes) & 1 == 0 {
        at = quote + 1
        return
      }
      from = quote + 1
    }
    throw .unterminatedString
  }

  @usableFromInline
  mutating func skipWord() throws(ScanFault) {
    let start = at
    while at < end, !isEndOfWord(at.pointee) { at += 1 }
    let count = at - start
    guard count > 0 else { throw .expectedValue }
    let first = start.pointee
    if first == UInt8(ascii: "-") || first &- 0x30 < 10 {
      let word = UnsafeRawBufferPointer(start: start, count: count)
      if ScanNumber(word) != nil { return }
      at = start
      throw .badNumber
    } else if !Self.isLiteral(start, count) {
      at = start
      throw .badWord
    }
  }

  private func isEndOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x09, 0x0a, 0x0d, 0x22, 0x2c, 0x3a, 0x5b, 0x5d, 0x7b, 0x7d: true
    default: false
    }
  }

  private static func isLiteral(_ word: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    func equals(_ name: StaticString) -> Bool {
      count == name.utf8CodeUnitCount && memcmp(word, name.utf8Start, count) == 0
    }
    return equals("null") || equals("true") || equals("false")
  }
}

/// The open brackets of a walk, one bit each: no recursion, and memory only
/// beyond a nesting of 64.
struct ScanNesting {
  private var bits: UInt64 = 0
  private(set) var depth = 0
  private var deeper: [UInt64] = []

  /// Opens `{` (true) or `[` (false).
  @inline(__always)
  mutating func open(isObject: Bool) {
    if depth & 63 == 0 && depth > 0 { deeper.append(bits) }
    bits = bits << 1 | (isObject ? 1 : 0)
    depth += 1
  }

  /// Whether the innermost open bracket is `{`.
  var isObject: Bool { bits & 1 == 1 }

  /// Closes the innermost one; false when it is of the other kind.
  @inline(__always)
  mutating func close(isObject: Bool) -> Bool {
    guard depth > 0, self.isObject == isObject else { return false }
    bits >>= 1
    depth -= 1
    if depth & 63 == 0 && depth > 0 { bits = deeper.removeLast() }
    return true
  }
}

extension ScanCursor {
  /// Crosses an object or array; `at` is its opening bracket.
  @usableFromInline
  mutating func skipContainer() throws(ScanFault) {
    var nesting = ScanNesting()
    while at < end {
      let byte = at.pointee
      if byte == UInt8(ascii: "\"") {
        try skipString()
        continue
      }
      at += 1
      switch byte | 0x20 {
      case UInt8(ascii: "{"):
        nesting.open(isObject: byte == UInt8(ascii: "{"))
      case UInt8(ascii: "}"):
        guard nesting.close(isObject: byte == UInt8(ascii: "}")) else { throw .unbalancedBrackets }
        if nesting.depth == 0 { return }
      default: break
      }
    }
    throw .unbalancedBrackets
  }
}
