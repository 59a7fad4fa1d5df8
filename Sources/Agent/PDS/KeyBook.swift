import CCrypto
public import Core
import Records

/// Remembers under which key each line of an input was created, so that the same input once more
/// creates nothing twice. A key is on disk before it is used.
public struct KeyBook {
  private let journal: JournalFile
  private let place: String
  /// The keys of lines that were read in an earlier run, and not yet in this one.
  private var known: [String: [TID]] = [:]

  /// - Parameters:
  ///   - path: the file, which need not exist.
  ///   - place: the server, the account and the collection; entries of others do not count.
  /// - Throws: `SettingsError` when it is there and cannot be read.
  public init(path: String, place: String) throws(SettingsError) {
    journal = JournalFile(path: path)
    self.place = place
    for record in try journal.records() {
      guard Self.text("place", record) == place, let digest = Self.text("sha256", record),
        let key = Self.text("rkey", record).flatMap({ TID($0) })
      else { continue }
      known[digest, default: []].append(key)
    }
  }

  /// The key that a line had in an earlier run, once for each time it had one.
  public mutating func known(for line: UnsafeRawBufferPointer) -> TID? {
    let digest = Self.digest(of: line)
    guard let key = known[digest]?.first else { return nil }
    known[digest]?.removeFirst()
    return key
  }

  /// Remembers a key; it is on disk when this returns.
  ///
  /// - Throws: `SettingsError`.
  public func note(_ key: TID, for line: UnsafeRawBufferPointer) throws(SettingsError) {
    try journal.append(
      RecordText().string("place", place).string("sha256", Self.digest(of: line))
        .string("rkey", key.description).bytes)
  }

  private static func digest(of line: UnsafeRawBufferPointer) -> String {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(line.baseAddress, line.count, &digest)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private static func text(_ name: String, _ record: [UInt8]) -> String? {
    record.withUnsafeBytes { bytes in
      (try? ScanMembers.value(of: name, in: bytes)).flatMap { $0.isString ? $0.string : nil }
    }
  }
}
