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
