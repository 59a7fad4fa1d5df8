public import Core
import Records

/// Remembers under which key each line of an input was created, so that the same input once more
/// creates nothing twice. A key is on disk before it is used, and the file is nobody else's
/// meanwhile.
public struct KeyBook {
  private let journal: JournalFile
  private let lock: LockFile
  private let place: String
  /// The keys of lines that were read in an earlier run, and not yet in this one.
  private var known: [String: [TID]] = [:]
  /// The keys whose records were written, or are kept where they will be.
  private var settled: Set<TID> = []

  /// - Parameter place: the server, the account and the collection; entries of others do not
  ///   count.
  /// - Throws: `Failure` when it is there and cannot be read, or holds anything else;
  ///   `temporary` while another process has it.
  public init(path: String, place: String) throws(Failure) {
    journal = JournalFile(path: path)
    self.place = place
    // Nothing is made of a file that is something else.
    _ = try Self.keys(journal)
    guard let lock = try LockFile(path, patience: 0) else {
      throw Failure(path, "another process creates records with it", .temporary)
    }
    self.lock = lock
    // Another may have added some before it let go.
    for key in try Self.keys(journal) where key.place == place {
      if key.isSettled {
        settled.insert(key.key)
      } else {
        known[key.digest, default: []].append(key.key)
      }
    }
  }

  /// All entries, once it is certain that nothing else is in the file.
  private static func keys(
    _ journal: JournalFile
  ) throws(Failure) -> [(place: String, digest: String, key: TID, isSettled: Bool)] {
    try journal.records().map { record throws(Failure) in
      let text = { ScanMembers.text(of: $0, in: record) }
      guard let place = text("place"), let digest = text("sha256"),
        let key = text("rkey").flatMap({ TID($0) })
      else {
        throw Failure(journal.path, "holds other records than the keys of create --state")
      }
      return (place, digest, key, text("state") == "settled")
    }
  }

  /// The key that a line had in an earlier run, once for each time it had one.
  public mutating func known(for line: UnsafeRawBufferPointer) -> TID? {
    let digest = sha256(line).hex
    guard let key = known[digest]?.first else { return nil }
    known[digest]?.removeFirst()
    return key
  }

  /// Remembers a key; it is on disk when this returns.
  public func note(_ key: TID, for line: UnsafeRawBufferPointer) throws(Failure) {
    try note(key, line, state: nil)
  }

  private func note(
    _ key: TID, _ line: UnsafeRawBufferPointer, state: String?
  ) throws(Failure) {
    try journal.append(
      RecordText().string("place", place).string("sha256", sha256(line).hex)
        .string("rkey", key.description).string("state", state).bytes)
  }

  /// Remembers that nothing more is to be done for a key, whatever becomes of its record.
  public mutating func settle(_ key: TID, for line: UnsafeRawBufferPointer) throws(Failure) {
    if settled.insert(key).inserted { try note(key, line, state: "settled") }
  }

  /// Whether that is so.
  public func isSettled(_ key: TID) -> Bool { settled.contains(key) }
}
