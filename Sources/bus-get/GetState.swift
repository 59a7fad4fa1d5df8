import Bus
import CLibc
import Core
import Records

/// The place of one's own, in the file of `--state` or in the folder of `--archive`: the last
/// record that was written, and where the output ended then.
///
/// What is behind that place in a regular file was written by a run that ended before it could
/// say so: it is cut off, and fetched again. So each record is there once.
struct GetState {
  private let file: StateFile
  private let stream: String
  private let archive: DayFolder?
  private let isFile: Bool
  private(set) var sequence = 0
  var origin: String?
  /// When that record was stored: whether a stream of several servers is the same.
  private(set) var storedAt: Timestamp?
  /// Where the output ends behind it, bytes.
  private var offset: Int64 = 0
  /// Whether it is known where the place began; before that, 0 stands for nothing at all.
  private(set) var hasBegun = false
  private var saved: (sequence: Int, offset: Int64)?
  private var savedAt = -Double.infinity

  /// The shortest time between two saves, seconds.
  private static let interval = 1.0

  init(path: String, stream: String, archive: DayFolder? = nil) throws(Failure) {
    file = StateFile(path: path)
    (self.stream, self.archive) = (stream, archive)
    let size = FileIdentity(descriptor: 1) == nil ? nil : FileVersion(1)?.size
    isFile = archive != nil || size != nil
    offset = size ?? 0
    if size != nil, clibc_lock(1) != 0, systemError == EWOULDBLOCK {
      throw Failure("standard output", "another bus-get is at work on it")
    }
    guard let bytes = try file.read(), !bytes.isEmpty else {
      // None is lost by a crash: somebody else wrote these, or removed it.
      if let archive, archive.holdsDays {
        throw Failure(path, "not there, and nothing else says how far the days go")
      }
      return
    }
    let value = bytes.withUnsafeBytes { try? JSONValue.parse($0) }
    guard let value, value["type"]?.string == "bus_state", let found = value["stream"]?.string,
      let last = value["seq"]?.integer, 0..<Int64.max ~= last
    else { throw Failure(path, "not a state file of bus-get") }
    guard found == stream else {
      throw Failure(path, "holds the state of \(found), not of \(stream)")
    }
    sequence = Int(last)
    origin = value["created"]?.string
    storedAt = value["stored"]?.string.flatMap { Timestamp(rfc3339: $0) }
    hasBegun = last > 0 || value["begun"]?.bool == true
    let end = value["offset"]?.integer
    if let archive {
      guard let end, let day = value["file"]?.string.flatMap(DayFile.init(name:)) else {
        throw Failure(path, "not the state file of an archive")
      }
      try Self.cut(day, of: archive, at: Int(clamping: end))
      return
    }
    guard let size, let end else { return }
    guard end >= 0, end <= size else {
      throw Failure(
        "standard output", "ends at byte \(size), and at \(end) in \(path): append to it by >>")
    }
    guard ftruncate(1, off_t(end)) == 0, lseek(1, 0, SEEK_END) >= 0 else {
      throw Failure("standard output", systemReason(systemError))
    }
    offset = end
    saved = (sequence, offset)
  }

  /// Cuts a day that is not finished; one that is was compressed, or removed since.
  private static func cut(
    _ day: DayFile, of archive: DayFolder, at end: Int
  ) throws(Failure) {
    guard archive.plain.contains(day) else { return }
    var size = 0
    try archive.mend(day) { bytes in
      size = bytes.count
      return end < 0 ? size : end
    }
    guard end < 0 || end > size else { return }
    throw Failure(
      Folders.join(archive.path, day.name), "ends at byte \(size), and at \(end) in the state")
  }

  /// The archive goes on with another file, in which nothing is written before this.
  mutating func beginFile(now: Double) throws(Failure) {
    guard let archive else { return }
    (offset, saved) = (stat(following: archive.file).map { Int64($0.st_size) } ?? 0, nil)
    _ = try save(now: now, force: true)
  }

  /// A crash from now on must not begin elsewhere.
  mutating func begin(behind last: Int) {
    guard !hasBegun else { return }
    (sequence, hasBegun, saved, savedAt) = (max(sequence, last), true, nil, -.infinity)
  }

  mutating func wrote(_ place: BusPlace, bytes: Int, hasCopies: Bool) {
    sequence = place.sequence
    storedAt = hasCopies ? place.time : nil
    offset += Int64(bytes)
  }

  /// Saves what changed, if it is time; what it says was written is on disk before. Returns when to
  /// be called again at the latest.
  mutating func save(now: Double, force: Bool = false) throws(Failure) -> Double {
    if let saved, saved == (sequence, offset) { return .infinity }
    if !force, now < savedAt + Self.interval { return savedAt + Self.interval }
    try sync()
    let record = RecordText(.busState).string("stream", stream).number("seq", sequence)
      .bool("begun", sequence == 0 && hasBegun ? true : nil)
      .string("file", archive?.day.name).number("offset", isFile ? offset : nil)
      .string("created", origin).time(storedAt, as: "stored")
    try file.replace(with: record.line)
    (saved, savedAt) = ((sequence, offset), now)
    return .infinity
  }

  private func sync() throws(Failure) {
    if let archive {
      do throws(WriteFailure) { try archive.sync() } catch { throw archive.failure(error) }
    } else if isFile, fsync(1) != 0, systemError != EINVAL {
      throw Failure("standard output", systemReason(systemError))
    }
  }
}
