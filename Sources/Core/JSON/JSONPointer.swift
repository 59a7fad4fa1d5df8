/// A place in a JSON value (RFC 6901).
public struct JSONPointer: Equatable, Sendable {
  private let tokens: [[UInt8]]

  /// - Parameter path: `/member/0/member`; the empty one is the value itself.
  /// - Throws: `UsageError` that says what is wrong with it.
  public init(_ path: some StringProtocol) throws(UsageError) {
    guard path.isEmpty || path.hasPrefix("/") else {
      throw UsageError("a JSON pointer begins with /")
    }
    var tokens: [[UInt8]] = []
    for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      guard let token = Self.decode(part.utf8) else {
        throw UsageError("~ must be followed by 0 or 1")
      }
      tokens.append(token)
    }
    self.tokens = tokens
  }

  /// A member of an object.
  public init(member: StaticString) { tokens = [member.withUTF8Buffer { Array($0) }] }

  private static func decode(_ part: some Sequence<UInt8>) -> [UInt8]? {
    var token: [UInt8] = []
    var isEscape = false
    for byte in part {
      if isEscape {
        guard byte == 0x30 || byte == 0x31 else { return nil }
        token.append(byte == 0x30 ? UInt8(ascii: "~") : UInt8(ascii: "/"))
        isEscape = false
      } else if byte == UInt8(ascii: "~") {
        isEscape = true
      } else {
        token.append(byte)
      }
    }
    return isEscape ? nil : token
  }

  /// The value there; absent where there is none, and where the value cannot be walked.
  public func resolve(_ whole: ScanValue) -> ScanValue {
    var value = whole
    for token in tokens {
      let next =
        value.isObject
        ? try? ScanMembers.value(of: token, in: value.bytes) : try? token.element(of: value)
      guard let next else { return .absent }
      value = next
    }
    return value
  }
}

extension [UInt8] {
  /// The element of this number: digits without a leading zero.
  fileprivate func element(of array: ScanValue) throws(ScanFault) -> ScanValue {
    guard count == 1 || first != 0x30, count < 19, allSatisfy({ $0 &- 0x30 < 10 }), !isEmpty else {
      return .absent
    }
    var left = reduce(0) { $0 * 10 + Int($1 - 0x30) }
    var elements = try ScanElements(array.bytes)
    while try elements.next() {
      if left == 0 { return elements.value }
      left -= 1
    }
    return .absent
  }
}
