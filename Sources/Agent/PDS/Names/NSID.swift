/// The name of a collection, `com.example.todo.item` (AT Protocol, "Namespaced Identifiers").
public struct NSID: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  /// - Parameter text: nil when it breaks a rule: at least three parts, the last one of
  ///   letters and digits, those before it a domain name backwards.
  public init?(_ text: String) {
    guard text.utf8.count <= 317 else { return nil }
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count >= 3, let first = parts.first, let name = parts.last else { return nil }
    let domain = parts.dropLast()
    guard domain.reduce(domain.count - 1, { $0 + $1.count }) <= 253,
      domain.allSatisfy({ Self.isLabel($0) }), Self.beginsWithLetter(first),
      (1...63).contains(name.count), Self.beginsWithLetter(name),
      name.allSatisfy({ Self.isAlphanumeric($0) })
    else { return nil }
    description = text
  }
}

extension NSID {
  static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isLetter(byte) || (48...57).contains(byte)
  }

  static func beginsWithLetter(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first.map(isLetter) ?? false
  }

  /// 1 to 63 letters, digits and hyphens, with no hyphen at the ends.
  static func isLabel(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(bytes.count) && bytes.first != hyphen && bytes.last != hyphen
      && bytes.allSatisfy { isAlphanumeric($0) || $0 == hyphen }
  }
}
