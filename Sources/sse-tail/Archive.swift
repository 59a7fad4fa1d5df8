import Agent
import CLibc
import Core

/// A folder with one file of records per day (UTC), written by one process at a
/// time: `--archive FOLDER`.
///
/// The records themselves say where a later run is to go on: half a record that a
/// crash left is cut off, and the id of the last whole one is the resume point.
final class Archive: EventArchive {
  /// The name of the state file in the folder, unless another one is named.
  static let state = ".state"

  /// As the user called it.
  let path: String
  /// The id of the last event in the files that are not compressed.
  private(set) var lastEventID: String?
  private let lock: Int32
  /// What is written to now; never an earlier one, whatever the clock does.
  private var day: DayFile
  private var descriptor: Int32 = -1
  private var isDirty = false
  /// The files of earlier days that nobody has been told of.
  private var finished: [DayFile] = []

  /// Takes the folder, which is made if it is not there, and mends it.
  ///
  /// - Throws: `SettingsError`, also when another process has it.
  init(_ path: String, now: Timestamp) throws(SettingsError) {
    self.path = path
    try Folders.make(path)
    lock = try OwnPath.append(Folders.join(path, ".lock"))
    guard clibc_flock(lock) == 0 else {
      let code = systemError
      close(lock)
      throw SettingsError(
        path, code == EWOULDBLOCK ? "another archiver is at work" : systemReason(code))
    }
    day = DayFile(now)
    // Of a save that a crash cut off.
    for name in try Self.names(in: path) where name.hasPrefix(Self.state + ".") {
      unlink(Folders.join(path, name))
    }
    let (plain, compressed) = try Self.days(in: path)
    for newest in [plain.last, compressed] {
      if let newest, newest > day { day = newest }
    }
    // Behind a compressed file the state alone knows: it was saved before.
    for file in plain.reversed() where lastEventID == nil {
      if let compressed, file < compressed { break }
      lastEventID = try mend(file)
    }
    finished = plain.filter { $0 < day }
    do throws(WriteFailure) {
      if hasFinished { try begin() }
    } catch {
      throw SettingsError(file, error.reason)
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
    close(lock)
  }

  /// The file that is written to, for messages.
  var file: String { Folders.join(path, day.name) }

  /// Whether the day is over, so that `turn` is due.
  func isOver(_ now: Timestamp) -> Bool { DayFile(now) > day }

  /// Ends the day's file, which is on disk when this returns.
  func turn(_ now: Timestamp) throws(WriteFailure) {
    try sync()
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
    day = DayFile(now)
    // Those that could not be compressed last time are told again.
    if let plain = try? Self.days(in: path).plain { finished = plain.filter { $0 < day } }
    try begin()
  }

  /// Makes the day's file before anybody is told of those before it: even if the
  /// clock is set back now and we are started again, these are written to no more.
  private func begin() throws(WriteFailure) {
    _ = try open()
    try sync()
  }

  /// The day's open file; made if it is not there.
  func open() throws(WriteFailure) -> Int32 {
    isDirty = true
    if descriptor >= 0 { return descriptor }
    guard let place = try? OwnPath.resolve(file) else { throw WriteFailure(code: ELOOP) }
    let opened = clibc_append(place)
    guard opened >= 0 else { throw WriteFailure(code: systemError) }
    var status = stat()
    guard fstat(opened, &status) == 0, status.isRegular else {
      close(opened)
      throw WriteFailure(code: EINVAL)
    }
    descriptor = opened
    return descriptor
  }

  /// Brings what was written to disk.
  func sync() throws(WriteFailure) {
    guard isDirty, descriptor >= 0 else { return }
    guard fsync(descriptor) == 0 else { throw WriteFailure(code: systemError) }
    isDirty = false
    syncFolder()
  }

  /// The files that are finished and not yet told of, oldest first.
  func takeFinished() -> [String] {
    defer { finished = [] }
    return finished.map(\.name)
  }

  /// Whether `takeFinished` has something.
  var hasFinished: Bool { !finished.isEmpty }

  /// So that a new file's name is there after a crash.
  private func syncFolder() {
    let folder = clibc_open(path, O_RDONLY | O_DIRECTORY)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Cuts off half a record.
  ///
  /// - Returns: the id of the last event.
  private func mend(_ file: DayFile) throws(SettingsError) -> String? {
    let name = Folders.join(path, file.name)
    let descriptor = try OwnPath.append(name)
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SettingsError(name, systemReason(systemError))
    }
    let size = Int(status.st_size)
    guard size > 0 else { return nil }
    let bytes = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let bytes, Int(bitPattern: bytes) != -1 else {
      throw SettingsError(name, systemReason(systemError))
    }
    let found = ArchiveTail.read(UnsafeRawBufferPointer(start: bytes, count: size))
    munmap(bytes, size)
    if found.size < size, ftruncate(descriptor, off_t(found.size)) != 0 || fsync(descriptor) != 0 {
      throw SettingsError(name, systemReason(systemError))
    }
    return found.lastEventID
  }

  /// The days' files that are not compressed, oldest first, and the newest that is.
  private static func days(
    in path: String
  ) throws(SettingsError) -> (plain: [DayFile], compressed: DayFile?) {
    var plain: [DayFile] = []
    var compressed: DayFile?
    for name in try names(in: path) {
      if let file = DayFile(name: name) {
        plain.append(file)
      } else if let file = DayFile(compressedName: name), compressed.map({ $0 < file }) ?? true {
        compressed = file
      }
    }
    return (plain.sorted(), compressed)
  }

  private static func names(in path: String) throws(SettingsError) -> [String] {
    guard let stream = opendir(path) else { throw SettingsError(path, systemReason(systemError)) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          FileName.text(Array(bytes.prefix { $0 != 0 }))
        })
    }
    return names
  }
}
