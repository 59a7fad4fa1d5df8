public import Core

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
      parts[2].allSatisfy({ $0.isAlphanumeric || "._:%-".utf8.contains($0) }),
      let last = parts[2].last, last != UInt8(ascii: ":"), last != UInt8(ascii: "%")
    else { return nil }
    description = text
  }
}

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
      name.allSatisfy({ $0.isAlphanumeric })
    else { return nil }
    description = text
  }
}

extension NSID {
  static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }

  static func beginsWithLetter(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.first.map(isLetter) ?? false
  }

  /// 1 to 63 letters, digits and hyphens, with no hyphen at the ends.
  static func isLabel(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(bytes.count) && bytes.first != hyphen && bytes.last != hyphen
      && bytes.allSatisfy { $0.isAlphanumeric || $0 == hyphen }
  }
}

/// The name of a record within its collection (AT Protocol, "Record Keys").
public struct RecordKey: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  /// - Parameter text: nil when it breaks a rule: 1 to 512 letters, digits and `.-_:~`, and
  ///   neither `.` nor `..`.
  public init?(_ text: String) {
    guard (1...512).contains(text.utf8.count), text != ".", text != "..",
      text.utf8.allSatisfy({ $0.isAlphanumeric || ".-_:~".utf8.contains($0) })
    else { return nil }
    description = text
  }

  /// That of a time.
  public init(_ tid: TID) { description = tid.description }
}

/// A key made of a time (AT Protocol, "Timestamp Identifiers"): 13 letters and digits that sort
/// as the times do.
public struct TID: Hashable, Sendable, CustomStringConvertible {
  /// As it was written.
  public let description: String

  private static let digits = Array("234567abcdefghijklmnopqrstuvwxyz".utf8)

  /// - Parameter text: nil when it is none.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    // The highest of the 64 bits is 0, and 13 digits hold 65.
    guard bytes.count == 13, bytes.allSatisfy({ Self.digits.contains($0) }),
      Self.digits[..<16].contains(bytes[0])
    else { return nil }
    description = text
  }

  /// The time, microseconds since 1970.
  public var microseconds: Int64 {
    let value = description.utf8.reduce(UInt64(0)) { value, byte in
      value << 5 | UInt64(Self.digits.firstIndex(of: byte) ?? 0)
    }
    return Int64(value >> 10)
  }

  /// The same, to the millisecond.
  public var time: Timestamp {
    let milliseconds = microseconds / 1000
    return Timestamp(
      seconds: milliseconds / 1000, nanoseconds: Int32(milliseconds % 1000) * 1_000_000)
  }

  /// - Parameters:
  ///   - microseconds: since 1970; the lowest 53 bits count.
  ///   - clock: which of several writers this is; the lowest 10 bits count.
  public init(microseconds: Int64, clock: Int) {
    let time = UInt64(truncatingIfNeeded: microseconds) & (1 << 53 - 1)
    let value = time << 10 | UInt64(truncatingIfNeeded: clock) & 1023
    description = String(
      decoding: (0..<13).map { Self.digits[Int(value >> UInt64(60 - 5 * $0) & 31)] },
      as: UTF8.self)
  }
}

/// Gives keys of which each is above the one before.
public struct TIDClock: Sendable {
  private let clock: Int
  private var last: Int64 = 0

  /// - Parameter clock: tells this writer from others, 0 to 1023.
  public init(clock: Int) { self.clock = clock }

  /// The next key.
  ///
  /// - Parameter now: seconds since 1970.
  public mutating func next(now: Double) -> TID {
    last = max(last + 1, Int64(max(now, 0) * 1e6))
    return TID(microseconds: last, clock: clock)
  }
}
