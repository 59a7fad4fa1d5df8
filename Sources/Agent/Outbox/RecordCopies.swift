import CLibc
public import Core
import Records

/// A record as it was read.
public struct CopiedRecord: Sendable {
  /// What it is called by its content.
  public let cid: CID
  /// The record, one JSON object.
  public let value: [UInt8]
  /// Its address as the server spells it.
  public let uri: String
  /// When it was read.
  public let time: Timestamp

  public init(cid: CID, value: [UInt8], uri: String, time: Timestamp) {
    (self.cid, self.value, self.uri, self.time) = (cid, value, uri, time)
  }

  /// Of a row that a server gave; nil when it has no CID or no value.
  public init?(row: [UInt8], time: Timestamp) {
    guard row.withUnsafeBytes(UTF8Text.isValid),
      let value = ScanMembers.copy(of: "value", in: row), value.first == UInt8(ascii: "{"),
      let cid = ScanMembers.text(of: "cid", in: row).flatMap({ CID($0) })
    else { return nil }
    self.init(cid: cid, value: value, uri: ScanMembers.text(of: "uri", in: row) ?? "", time: time)
  }
}

/// The records of a collection, as they were read.
public struct CopiedCollection: Sendable {
  /// By their keys; nil for one that is gone.
  public internal(set) var records: [RecordKey: CopiedRecord?] = [:]
  /// When all of them were read together; nil when they never were.
  public internal(set) var time: Timestamp?
  /// What they were before, the newest first: edits may be made from that.
  var earlier: [RecordKey: [CopiedRecord]] = [:]
  var gone: [RecordKey: Timestamp] = [:]
  var lines = 0

  static let mostEarlier = 4

  mutating func receive(_ key: RecordKey, _ record: CopiedRecord?, gone time: Timestamp) {
    lines += 1
    if let before = records[key] ?? nil, before.cid != record?.cid {
      var all = earlier[key] ?? []
      all.removeAll { $0.cid == before.cid || $0.cid == record?.cid }
      earlier[key] = Array(([before] + all).prefix(Self.mostEarlier))
    }
    records[key] = .some(record)
    gone[key] = record == nil ? time : nil
  }

  var isWorn: Bool {
    lines > 2 * (records.count + earlier.values.reduce(0) { $0 + $1.count }) + 16
  }
}

/// Copies of one's own records, by profile and collection: what an edit was made from, and what
/// can be shown while the server is away. Never the truth: they may be deleted at any time.
public final class RecordCopies {
  private let folder: String
  private let account: String
  private var known: [NSID: CopiedCollection] = [:]

  /// - Parameter account: the server and who logs in there; copies of others do not count.
  public init(profile: String, account: String, in folders: Folders = Folders()) {
    folder = Folders.join(Folders.join(folders.state, "pds/copies"), profile)
    self.account = account
  }

  /// Those of the account of a profile.
  ///
  /// - Parameter profile: nil, or a name that no folder can have, for none.
  public convenience init?(of profile: String?, _ records: PDSRecords) {
    guard let profile, OutboxFile.isSafe(profile) else { return nil }
    self.init(profile: profile, account: records.account)
  }

  /// What is known of a collection; nothing where its file cannot be read.
  public func collection(_ name: NSID) -> CopiedCollection {
    if let found = known[name] { return found }
    let found = read(name)
    known[name] = found
    return found
  }

  /// A record; nil where it is not known, and where it is known to be gone.
  public func record(_ place: RecordPlace) -> CopiedRecord? {
    collection(place.collection).records[place.key] ?? nil
  }

  /// What was there under a CID; nil where that is not known any more.
  public func content(of place: RecordPlace, _ cid: CID) -> [UInt8]? {
    let there = collection(place.collection)
    let now = [there.records[place.key] ?? nil].compactMap(\.self)
    let all = now + (there.earlier[place.key] ?? [])
    return all.first { $0.cid == cid }?.value
  }

  /// Keeps what was read of a collection.
  ///
  /// - Parameters:
  ///   - time: when the reading began; what was noted since is newer.
  ///   - isWhole: whether there are no others.
  public func keep(
    _ rows: [RecordKey: CopiedRecord], of name: NSID, since time: Timestamp, isWhole: Bool
  ) {
    changing(name) { there in
      var next = there
      for (key, row) in rows where (there.records[key] ?? nil)?.time ?? time <= time {
        if (there.gone[key] ?? time) <= time { next.receive(key, row, gone: time) }
      }
      guard isWhole else { return next }
      next.time = time
      for (key, row) in there.records where rows[key] == nil && row?.time ?? time <= time {
        (next.records[key], next.earlier[key]) = (nil, nil)
      }
      next.gone = next.gone.filter { $0.value > time }
      for key in next.gone.keys { next.records[key] = .some(nil) }
      return next
    }
  }

  /// Keeps what is known of one record now; nil for one that is gone.
  public func note(_ place: RecordPlace, _ record: CopiedRecord?) {
    var there = collection(place.collection)
    if let record, (there.records[place.key] ?? nil)?.cid == record.cid { return }
    let now = Timestamp.now()
    there.receive(place.key, record, gone: now)
    known[place.collection] = there
    guard let path = try? path(place.collection), stat(following: path) != nil, !there.isWorn
    else {
      return changing(place.collection) { there in
        var next = there
        next.receive(place.key, record, gone: now)
        return next
      }
    }
    // One more line is enough; a list makes the file anew.
    alone(path) { () throws(Failure) in
      try JournalFile(path: path).append([Self.line(place.key, record, gone: now)], isAlone: true)
    }
  }

  /// Keeps what a server gave of one record; nil for one that is gone.
  @discardableResult
  public func note(_ place: RecordPlace, row: [UInt8]?) -> CopiedRecord? {
    let record = row.flatMap { CopiedRecord(row: $0, time: .now()) }
    note(place, record)
    return record
  }

  /// Keeps what was written.
  ///
  /// - Parameter row: the server's answer.
  public func note(_ place: RecordPlace, _ draft: RecordDraft, _ row: [UInt8]) {
    let uri = ScanMembers.text(of: "uri", in: row) ?? ""
    note(place, CopiedRecord(cid: draft.cid, value: draft.bytes, uri: uri, time: .now()))
  }

  // MARK: - The files

  private func path(_ name: NSID) throws(Failure) -> String {
    try Folders.make(folder)
    return Folders.join(folder, "\(name).ndjson")
  }

  /// Changes a file while nobody else does; where that fails it goes: an old copy would be worse
  /// than none.
  private func alone(_ path: String, _ change: () throws(Failure) -> Void) {
    do throws(Failure) {
      if let lock = try LockFile(Folders.join(folder, ".lock"), patience: 10) {
        defer { lock.release() }
        return try change()
      }
    } catch {}
    unlink(path)
  }

  private func changing(_ name: NSID, _ change: (CopiedCollection) -> CopiedCollection) {
    guard let path = try? path(name) else { return }
    alone(path) { () throws(Failure) in
      var next = change(read(name))
      next.lines = next.records.count
      known[name] = next
      try StateFile(path: path).replace(with: bytes(next), isAlone: true)
    }
  }

  private func bytes(_ collection: CopiedCollection) -> [UInt8] {
    var bytes = RecordText().string("account", account).time(collection.time, as: "at").line
    for (key, record) in collection.records.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      let all = (collection.earlier[key] ?? []).reversed() + [record].compactMap(\.self)
      for one in all { bytes += Self.line(key, one) + [10] }
      if record == nil { bytes += Self.line(key, nil, gone: collection.gone[key]) + [10] }
    }
    return bytes
  }

  private static func line(
    _ key: RecordKey, _ record: CopiedRecord?, gone time: Timestamp? = nil
  ) -> [UInt8] {
    let text = RecordText().string("rkey", key.description)
    guard let record else { return text.json("cid", "null").time(time, as: "at").bytes }
    return text.string("cid", record.cid.description).time(record.time, as: "at")
      .string("uri", record.uri).json("value", bytes: record.value).bytes
  }

  private func read(_ name: NSID) -> CopiedCollection {
    var found = CopiedCollection()
    let path = Folders.join(folder, "\(name).ndjson")
    guard let lines = try? JournalFile(path: path).records(), let head = lines.first else {
      return found
    }
    guard ScanMembers.text(of: "account", in: head) == account else { return found }
    found.time = Self.time(of: head)
    for line in lines.dropFirst() where line.withUnsafeBytes(UTF8Text.isValid) {
      guard let key = ScanMembers.text(of: "rkey", in: line).flatMap({ RecordKey($0) }) else {
        continue
      }
      let time = Self.time(of: line) ?? Timestamp(seconds: 0)
      found.receive(key, CopiedRecord(row: line, time: time), gone: time)
    }
    return found
  }

  private static func time(of line: [UInt8]) -> Timestamp? {
    ScanMembers.text(of: "at", in: line).flatMap { Timestamp(rfc3339: $0) }
  }
}

/// Rows of a collection with the changes laid over them that wait in the outbox.
public enum RowOverlay {
  /// What is printed of a record, one JSON object.
  public typealias Row = (key: RecordKey, bytes: [UInt8])

  /// All rows of a collection.
  ///
  /// - Parameters:
  ///   - items: what waits, of any collection.
  ///   - isRising: whether the lowest key is to be the first.
  public static func rows(
    _ rows: [Row], _ items: [OutboxItem], of place: (Repository, NSID), isRising: Bool
  ) -> [Row] {
    var waiting: [RecordKey: OutboxItem] = [:]
    for item in items {
      guard let its = item.place, its.collection == place.1, its.owner == nil else { continue }
      waiting[its.key] = item
    }
    if waiting.isEmpty { return rows }
    var kept = rows.filter { waiting[$0.key] == nil }
    for (key, item) in waiting {
      let uri = ATURI(place.0, place.1, key)
      if let bytes = row(item, uri) { kept.append((key, bytes)) }
    }
    return kept.sorted { isBelow($0.key, $1.key) == isRising }
  }

  /// Whether a key is lower than another one, which is not the same.
  public static func isBelow(_ one: RecordKey, _ other: RecordKey) -> Bool {
    one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
  }

  /// A row with what lost in the merges that made it, as far as nobody dropped that.
  ///
  /// - Parameter closed: what a person has yet to see.
  public static func marked(
    _ row: [UInt8], _ place: RecordPlace, _ closed: [OutboxItem]
  ) -> [UInt8] {
    let lost = closed.filter { $0.place == place && $0.state == .merged }
      .flatMap { $0.answer?.ack.conflicts ?? [] }
    guard !lost.isEmpty, row.count > 2, row.last == UInt8(ascii: "}") else { return row }
    return row.dropLast() + [UInt8(ascii: ",")]
      + RecordText().list("conflicts", lost).bytes.dropFirst()
  }

  /// The row of a record that waits; nil for one that is to be gone.
  public static func row(_ item: OutboxItem, _ uri: ATURI) -> [UInt8]? {
    guard case .put(let draft) = item.action else { return nil }
    return RecordText().string("uri", uri.description).string("cid", draft.cid.description)
      .json("value", bytes: draft.bytes).bool("queued", true).bytes
  }
}
