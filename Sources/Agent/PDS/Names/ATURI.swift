/// The address of a repository, a collection or a record:
/// `at://alice.example.com/com.example.todo.item/3k` (AT Protocol, "AT URI scheme", the form that
/// is allowed in records).
public struct ATURI: Hashable, Sendable, CustomStringConvertible {
  /// Whose repository: a DID or a handle.
  public let repository: Repository
  /// The collection, nil for the whole repository.
  public let collection: NSID?
  /// The record's key, nil for the whole collection.
  public let key: RecordKey?

  /// The address of a record.
  public init(_ repository: Repository, _ collection: NSID, _ key: RecordKey) {
    (self.repository, self.collection, self.key) = (repository, collection, key)
  }

  /// - Parameter text: nil when it breaks a rule: no fragment, no query, no slash at the end, each
  ///   part as its own rules have it.
  public init?(_ text: String) {
    guard text.utf8.count <= 8192, text.utf8.starts(with: "at://".utf8) else { return nil }
    let parts = Array(text.utf8).dropFirst(5).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { String(decoding: $0, as: UTF8.self) }
    guard (1...3).contains(parts.count), let repository = Repository(parts[0]) else { return nil }
    self.repository = repository
    collection = parts.count > 1 ? NSID(parts[1]) : nil
    key = parts.count > 2 ? RecordKey(parts[2]) : nil
    if parts.count > 1 && collection == nil || parts.count > 2 && key == nil { return nil }
  }

  public var description: String {
    (["at:/", repository.description]
      + [collection?.description, key?.description].compactMap { $0 }).joined(separator: "/")
  }
}

/// Whose records: a DID or a handle.
public struct Repository: Hashable, Sendable, CustomStringConvertible {
  /// A DID as it was written, a handle in lower case: it is the same in any.
  public let description: String
  /// The DID, nil for a handle.
  public let did: DID?

  /// - Parameter text: nil when it is neither.
  public init?(_ text: String) {
    did = DID(text)
    if did == nil && Handle(text) == nil { return nil }
    description = did == nil ? text.lowercased() : text
  }

  /// That of a DID.
  public init(_ did: DID) {
    self.did = did
    description = did.description
  }
}
