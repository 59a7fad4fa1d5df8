/// The name of an account that people use, `alice.example.com` (AT Protocol, "Handle").
public struct Handle: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  /// - Parameter text: nil when it is not a domain name of two parts or more, the last of which
  ///   begins with a letter.
  public init?(_ text: String) {
    guard text.utf8.count <= 253 else { return nil }
    let parts = Array(text.utf8).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count >= 2, let last = parts.last, NSID.beginsWithLetter(last),
      parts.allSatisfy({ NSID.isLabel($0) })
    else { return nil }
    description = text
  }
}
