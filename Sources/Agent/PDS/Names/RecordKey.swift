/// The name of a record within its collection (AT Protocol, "Record Keys").
public struct RecordKey: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  /// - Parameter text: nil when it breaks a rule: 1 to 512 letters, digits and `.-_:~`, and
  ///   neither `.` nor `..`.
  public init?(_ text: String) {
    guard (1...512).contains(text.utf8.count), text != ".", text != "..",
      text.utf8.allSatisfy({ NSID.isAlphanumeric($0) || ".-_:~".utf8.contains($0) })
    else { return nil }
    description = text
  }

  /// That of a time.
  public init(_ tid: TID) { description = tid.description }
}
