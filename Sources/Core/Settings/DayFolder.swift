import CLibc

/// A folder with one file of records per day (UTC), written by one process at a
/// time: `--archive FOLDER`.
public final class DayFolder {
  /// As the user called it.
  public let path: String
  /// The files of days that are not compressed, oldest first, when the folder was taken.
  public let plain: [DayFile]
  /// The newest day that was compressed then.
  public let compressed: DayFile?
  /// What is written to now; never an earlier one, whatever the clock does.
  public private(set) var day: DayFile
  private let lock: LockFile
  private var descriptor: Int32 = -1
  private var isDirty = false
  private var finished: [DayFile] = []

  /// Takes the folder, which is made if it is not there.
  ///
  /// - Throws: `Failure`, also when another process has it.
  public init(_ path: String, now: Timestamp) throws(Failure) {
    self.path = path
    try Folders.make(path)
    guard let lock = try LockFile(Folders.join(path, ".lock"), patience: 0) else {
      throw Failure(path, "another archiver is at work")
    }
    self.lock = lock
    // Of a save that a crash cut off.
    let state = OwnPath.name(of: Self.state(in: path))
    for name in try FolderFile.names(in: path) where name.hasPrefix(state + ".") {
      unlink(Folders.join(path, name))
    }
    (plain, compressed) = try Self.days(in: path)
    day = [plain.last, compressed].compactMap(\.self).reduce(DayFile(now), max)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The state file of a folder, unless another one is named.
  public static func state(in path: String) -> String { Folders.join(path, ".state") }

  /// The file that is written to, for messages.
  public var file: String { Folders.join(path, day.name) }

  /// What a write to it that failed is to end with: a disk that is full is so for a while.
  public func failure(_ failure: WriteFailure) -> Failure {
    Failure(file, failure.reason, .temporary)
  }

  /// Cuts off what a crash left behind the whole records of a day.
  ///
  /// - Parameter wholeSize: told all that is there, says how many bytes of it stay.
  public func mend(
    _ file: DayFile, wholeSize: (UnsafeRawBufferPointer) -> Int
  ) throws(Failure) {
    let name = Folders.join(path, file.name)
    let descriptor = try OwnPath.append(name)
    defer { close(descriptor) }
    guard let status = stat(of: descriptor) else { throw Failure(code: systemError, place: name) }
    let size = Int(status.st_size)
    guard size > 0 else {
      _ = wholeSize(UnsafeRawBufferPointer(start: nil, count: 0))
      return
    }
    let bytes = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let bytes, Int(bitPattern: bytes) != -1 else {
      throw Failure(code: systemError, place: name)
    }
    let whole = wholeSize(UnsafeRawBufferPointer(start: bytes, count: size))
    munmap(bytes, size)
    if whole < size, ftruncate(descriptor, off_t(whole)) != 0 || fsync(descriptor) != 0 {
      throw Failure(name, systemReason(systemError))
    }
  }

  /// Whether there were files of days when the folder was taken.
  public var holdsDays: Bool { !plain.isEmpty || compressed != nil }

  /// Begins to write; the files of earlier days are finished.
  public func begin() throws(Failure) {
    finished = plain.filter { $0 < day }
    do throws(WriteFailure) {
      if hasFinished { try make() }
    } catch {
      throw Failure(file, error.reason)
    }
  }

  /// Whether the day is over, so that `turn` is due.
  public func isOver(_ now: Timestamp) -> Bool { DayFile(now) > day }

  /// When to ask that again, seconds: the clock may be set meanwhile.
  public static var patience: Double {
    min(60, Double(86_400 - Timestamp.now().seconds % 86_400))
  }

  /// Ends the day's file, which is on disk when this returns.
  public func turn(_ now: Timestamp) throws(WriteFailure) {
    try sync()
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    day = DayFile(now)
    // Those that could not be compressed last time are told again.
    if let plain = try? Self.days(in: path).plain { finished = plain.filter { $0 < day } }
    try make()
  }

  /// Makes the day's file before anybody is told of those before it: even if the
  /// clock is set back now and we are started again, these are written to no more.
  private func make() throws(WriteFailure) {
    _ = try open()
    try sync()
  }

  /// The day's open file; made if it is not there.
  public func open() throws(WriteFailure) -> Int32 {
    isDirty = true
    if descriptor >= 0 { return descriptor }
    guard let place = try? OwnPath.resolve(file) else { throw WriteFailure(code: ELOOP) }
    let opened = clibc_append(place)
    guard opened >= 0 else { throw WriteFailure(code: systemError) }
    guard stat(of: opened)?.isRegular == true else {
      close(opened)
      throw WriteFailure(code: EINVAL)
    }
    descriptor = opened
    return descriptor
  }

  /// Brings what was written to disk.
  public func sync() throws(WriteFailure) {
    guard isDirty, descriptor >= 0 else { return }
    guard fsync(descriptor) == 0 else { throw WriteFailure(code: systemError) }
    isDirty = false
    // So that a new file's name is there after a crash.
    StateFile.syncFolder(of: file)
  }

  /// The files that are finished and not yet told of, oldest first.
  public func takeFinished() -> [String] {
    defer { finished = [] }
    return finished.map(\.name)
  }

  /// Whether `takeFinished` has something.
  public var hasFinished: Bool { !finished.isEmpty }

  /// The days' files that are not compressed, oldest first, and the newest that is.
  private static func days(
    in path: String
  ) throws(Failure) -> (plain: [DayFile], compressed: DayFile?) {
    let names = try FolderFile.names(in: path)
    return (
      names.compactMap(DayFile.init(name:)).sorted(),
      names.compactMap(DayFile.init(compressedName:)).max()
    )
  }
}

/// The day that a file of an archive is for, which is its name:
/// `2026-11-21.ndjson`. Days are those of UTC.
public struct DayFile: Comparable, Sendable {
  /// In the archive's folder.
  public let name: String

  private static let ending = ".ndjson"

  /// The file for what is received at a time.
  public init(_ time: Timestamp) { name = String(time.rfc3339.prefix(10)) + Self.ending }

  /// - Returns: nil for any other file, and a compressed one.
  public init?(name: String) {
    guard name.hasSuffix(Self.ending), name.utf8.count == 10 + Self.ending.utf8.count,
      Timestamp(rfc3339: name.prefix(10) + "T00:00:00Z") != nil
    else { return nil }
    self.name = name
  }

  /// The file that was compressed under this name; nil for any other.
  public init?(compressedName name: String) {
    for ending in [".zst", ".gz"] where name.hasSuffix(ending) {
      self.init(name: String(name.dropLast(ending.count)))
      return
    }
    return nil
  }

  /// Whether a day is before another.
  public static func < (a: DayFile, b: DayFile) -> Bool { a.name < b.name }
}
