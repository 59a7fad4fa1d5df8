/// The name of an account that never changes, `did:plc:...` (AT Protocol, "DID").
public struct DID: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  /// - Parameter text: nil when it breaks a rule: `did:`, a method in lower case, `:`, and
  ///   letters, digits and `._:%-`, of which neither `:` nor `%` is the last.
  public init?(_ text: String) {
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard text.utf8.count <= 2048, parts.count == 3, parts[0].elementsEqual("did".utf8),
      !parts[1].isEmpty, parts[1].allSatisfy({ (97...122).contains($0) }),
      parts[2].allSatisfy({ NSID.isAlphanumeric($0) || "._:%-".utf8.contains($0) }),
      let last = parts[2].last, last != UInt8(ascii: ":"), last != UInt8(ascii: "%")
    else { return nil }
    description = text
  }
}
