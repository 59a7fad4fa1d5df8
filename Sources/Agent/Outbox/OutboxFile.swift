import CLibc
public import Core
import Records

/// The outbox of a profile on disk: an append-only file of records, for its owner alone
/// (Agent/Outbox/CONTRACT.md 1). Any number of processes may add to it and read it.
public final class OutboxFile {
  /// Where it is; it need not exist.
  public let path: String
  /// Whose it is.
  public let profile: String
  /// Whether a repository is known to be that of the account.
  public var isOwn: (Repository) -> Bool = { _ in false }
  /// What the lines mean, as of the last look.
  public private(set) var fold = OutboxFold()
  private let diagnostics: Diagnostics
  private let journal: JournalFile
  private let place: (folder: String, lock: String, sender: String, aside: String)
  /// The lines, and the entries that each is about; nil for one that is left alone.
  private var lines: [(bytes: [UInt8], ids: [TID]?)] = []
  private var descriptor: Int32 = -1
  private var offset = 0
  private var clock = TIDClock(clock: Int.random(in: 0..<1024))

  /// How long to wait for others that add, seconds: they take milliseconds.
  private static let patience = 30.0
  /// No entry is added to more than so many bytes. What is said of those that are there always
  /// has room: else a full outbox could be neither sent nor dropped.
  private static let mostToAdd = BoundedFile.largest - (1 << 20)
  private static let mostToRead = 2 * BoundedFile.largest

  /// - Parameters:
  ///   - profile: whose; nil is refused, and so is what is not fit to be the name of a file.
  ///   - diagnostics: told what of the file is no line of an outbox.
  public init(
    profile: String?, in folders: Folders = Folders(), _ diagnostics: Diagnostics
  ) throws(Failure) {
    guard let profile else {
      throw Failure("no profile", "an outbox belongs to one: name it with --profile")
    }
    guard Self.isSafe(profile) else {
      throw Failure("profile \(profile)", "not a name that the file of an outbox can have")
    }
    self.profile = profile
    self.diagnostics = diagnostics
    let folder = Self.folder(in: folders)
    path = Folders.join(folder, profile + ".ndjson")
    journal = JournalFile(path: path)
    place = (
      folder, Folders.join(folder, ".\(profile).lock"), Folders.join(folder, ".\(profile).sender"),
      Folders.join(folder, profile + ".bad")
    )
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The profiles that have an outbox.
  ///
  /// - Throws: `Failure` when the folder cannot be read.
  public static func profiles(in folders: Folders = Folders()) throws(Failure) -> [String] {
    try FolderFile.names(in: folder(in: folders)).filter { $0.hasSuffix(".ndjson") }
      .map { String($0.dropLast(7)) }.filter(isSafe).sorted()
  }

  static func folder(in folders: Folders) -> String { Folders.join(folders.state, "outbox") }

  static func isSafe(_ profile: String) -> Bool {
    (1...100).contains(profile.utf8.count) && !".-".contains(profile.first ?? ".")
      && profile.utf8.allSatisfy { byte in
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7a || byte >= 0x30 && byte <= 0x39
          || "._-@+".utf8.contains(byte)
      }
  }

  // MARK: - Reading

  /// Reads what is new. What is no line of an outbox is told, and moved to a file beside it.
  public func look() throws(Failure) {
    guard stat(following: path) != nil else { return forget() }
    try alone { () throws(Failure) in try read() }
  }

  /// Reads all of it again, when more is known of whose the records are.
  func lookAgain() throws(Failure) {
    forget()
    try look()
  }

  private func forget() {
    if descriptor >= 0 { close(descriptor) }
    (descriptor, offset, lines, fold) = (-1, 0, [], OutboxFold())
  }

  /// Under the lock.
  private func read() throws(Failure) {
    var (there, held) = (stat(), stat())
    let isThere = stat(following: path).map { there = $0 } != nil
    let isSame =
      descriptor >= 0 && isThere && fstat(descriptor, &held) == 0 && held.st_ino == there.st_ino
      && held.st_dev == there.st_dev && Int(held.st_size) >= offset
    if !isSame { forget() }
    if !isThere { return }
    // It stays open, so that no other file gets its number.
    if descriptor < 0 { descriptor = try OwnPath.append(path) }
    guard fstat(descriptor, &held) == 0 else { throw failure() }
    let size = Int(held.st_size)
    guard size <= Self.mostToRead else {
      throw Failure(path, "larger than \(Self.mostToRead) bytes")
    }
    var bytes = [UInt8](repeating: 0, count: size - offset)
    var count = 0
    while count < bytes.count {
      let some = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(offset + count))
      }
      if some < 0 && systemError == EINTR { continue }
      guard some > 0 else { throw failure() }
      count += some
    }
    offset = size
    try receive(bytes)
  }

  private func receive(_ bytes: [UInt8]) throws(Failure) {
    var bad: [(bytes: [UInt8], number: Int, reason: String)] = []
    for line in bytes.split(separator: 10) {
      let line = Array(line)
      do throws(Failure) {
        try receive(line: line)
      } catch {
        bad.append((line, lines.count + bad.count + 1, error.reason))
      }
    }
    if bad.isEmpty { return }
    var obstacle: Failure?
    do throws(Failure) {
      try JournalFile(path: place.aside).append(bad.map(\.bytes), isAlone: true)
    } catch {
      obstacle = error
    }
    var faults = FaultLog(diagnostics)
    for line in bad {
      let end = obstacle.map { "left there: \($0.message)" } ?? "moved to \(place.aside)"
      faults.line(path, line.number, "\(line.reason): \(end)")
    }
    faults.finish()
    // What cannot be moved hurts nobody where it is, and is tried again by the next.
    if obstacle == nil { return try replace() }
    lines += bad.map { ($0.bytes, nil) }
  }

  private func receive(line: [UInt8]) throws(Failure) {
    var found = try line.scan(OutboxLine.init)
    if case .entry(var entry) = found, let place = entry.change.place, let owner = place.owner,
      isOwn(owner)
    {
      entry.change.place = RecordPlace(place.collection, place.key)
      found = .entry(entry)
    }
    guard fold.receive(found) else { throw Failure("an id that was there before") }
    switch found {
    case .entry(let entry): lines.append((line, [entry.id]))
    case .sending(_, _, let ids), .ack(_, let ids, _): lines.append((line, ids))
    case .other: lines.append((line, nil))
    }
  }

  // MARK: - Writing

  /// Adds entries; they are on disk when this returns.
  ///
  /// - Parameter changes: what is to happen, made of what waits already.
  /// - Throws: `Failure`; none of them is there then.
  public func add(_ changes: (OutboxFold) -> [OutboxChange]) throws(Failure) -> [OutboxEntry] {
    try writing { () throws(Failure) in
      let entries = changes(fold).map { OutboxEntry(id: newID(), time: .now(), change: $0) }
      let more = entries.reduce(0) { $0 + $1.bytes.count + 1 }
      guard offset + more <= Self.mostToAdd else {
        throw Failure(path, "full: it would be larger than \(Self.mostToAdd) bytes")
      }
      try append(entries.map(\.bytes))
      return entries
    }
  }

  /// Says that something is sent now.
  ///
  /// - Throws: `Failure`; it must not be sent then.
  public func noteSending(
    _ item: OutboxItem, _ cid: CID? = nil, _ conflicts: [[UInt8]] = []
  ) throws(Failure) {
    let line = OutboxLine.sending(cid, conflicts: conflicts, item.ids, .now())
    try writing { () throws(Failure) in try append([line]) }
  }

  /// Says what became of an item.
  ///
  /// - Returns: the item with its answer.
  /// - Throws: `Failure`; it waits then as before.
  public func answer(_ item: OutboxItem, _ ack: OutboxAck) throws(Failure) -> OutboxItem {
    var answered = item
    let time = Timestamp.now()
    try writing { () throws(Failure) in try append([ack.bytes(item.ids, time)]) }
    answered.answer = (ack, time)
    return answered
  }

  /// Leaves out the lines that mean nothing any more, if they are many, or none means anything.
  ///
  /// - Throws: `Failure`; all lines are there then.
  public func compact() throws(Failure) {
    guard stat(following: path) != nil else { return forget() }
    try alone { () throws(Failure) in
      try read()
      let needs = fold.needs
      let isKept = lines.map { line in line.ids.map(needs) ?? true }
      let gone = isKept.count { !$0 }
      let isAll = gone == lines.count(where: { $0.ids != nil })
      if gone == 0 || gone < 16 && !isAll { return }
      lines = zip(lines, isKept).filter(\.1).map(\.0)
      try replace()
    }
  }

  /// As long as it is held, no other process sends.
  ///
  /// - Throws: `Failure`, also when another one does for longer than that.
  public func sendingLock(patience: Double) throws(Failure) -> LockFile {
    if let lock = try sender(patience: patience) { return lock }
    throw Failure(path, "another process sends what is in it", .temporary)
  }

  /// The same; nil when another one does.
  public func sender(patience: Double) throws(Failure) -> LockFile? {
    try Folders.make(place.folder)
    return try LockFile(place.sender, patience: patience)
  }

  private func newID() -> TID {
    while true {
      let id = clock.next(now: Clock.unix)
      if !fold.knows(id) { return id }
    }
  }

  private func append(_ added: [[UInt8]]) throws(Failure) {
    try journal.append(added, isAlone: true)
    try read()
  }

  private func replace() throws(Failure) {
    let bytes = lines.reduce(into: [UInt8]()) { $0 += $1.bytes + [10] }
    try StateFile(path: path).replace(with: bytes, isAlone: true)
    forget()
    try read()
  }

  private func writing<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try Folders.make(place.folder)
    return try alone { () throws(Failure) in
      try read()
      return try body()
    }
  }

  private func alone<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    guard let lock = try LockFile(place.lock, patience: Self.patience) else {
      throw Failure(place.lock, "another process has it for too long", .temporary)
    }
    defer { lock.release() }
    return try body()
  }

  private func failure() -> Failure { Failure(path, systemReason(systemError)) }
}
