import CLibc
import Core

/// An item that is being delivered: its file is open and locked, and everything is
/// read from there; its name is not looked at again but to remove it.
final class OpenItem {
  enum Obstacle: Error, Equatable {
    case taken
    case foreign(String)
    case waits(String)
    /// It never will be, unless asked for again.
    case never(String)
  }

  let item: InboxItem
  let descriptor: Int32
  /// Bytes; what is sent.
  let size: Int
  let version: FileVersion
  private let folder: InboxFolder

  /// Opens an item.
  init(_ item: InboxItem, in folder: InboxFolder, maxSize: Int64) throws(Obstacle) {
    let descriptor = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
    guard descriptor >= 0 else {
      switch systemError {
      case ENOENT: throw .taken
      case ELOOP, EMLINK: throw .foreign("a symbolic link, left alone")
      case let code: throw .waits(systemReason(code))
      }
    }
    do throws(Obstacle) {
      version = FileVersion(try Self.inspect(descriptor, maxSize))
      size = Int(version.size)
    } catch {
      close(descriptor)
      throw error
    }
    (self.item, self.folder, self.descriptor) = (item, folder, descriptor)
  }

  deinit { close(descriptor) }

  /// The same file opened once more, from its beginning and without the lock: who has
  /// that may outlive this process. Returns for the caller to close; nil when its name is another
  /// file's by now.
  func reopened() -> Int32? {
    let other = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
    guard other >= 0 else { return nil }
    var ours = stat()
    var others = stat()
    guard fstat(descriptor, &ours) == 0, fstat(other, &others) == 0,
      ours.st_dev == others.st_dev, ours.st_ino == others.st_ino
    else {
      close(other)
      return nil
    }
    return other
  }

  /// All of a small file; nil when it cannot be read, or has changed meanwhile.
  func content() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    while count < size {
      let got = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, size - count, off_t(count))
      }
      if got < 0 && systemError == EINTR { continue }
      guard got > 0 else { return nil }
      count += got
    }
    return FileVersion(descriptor) == version ? bytes : nil
  }

  private static func inspect(_ descriptor: Int32, _ maxSize: Int64) throws(Obstacle) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .waits(systemReason(systemError)) }
    if let objection = InboxFolder.objection(status) { throw .foreign("\(objection), left alone") }
    guard lock(descriptor) else { throw .taken }
    // Who had the lock before may have delivered it.
    guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { throw .taken }
    guard status.st_size <= maxSize else {
      throw .never(tooLarge(Int64(status.st_size), maxSize: maxSize))
    }
    if clibc_is_being_written(descriptor) != 0 || !isQuiet(descriptor) {
      throw .waits("still being written")
    }
    return status
  }

  /// Whether nothing is added to a file that was written to just now: a writer may
  /// open it again for each piece. What `add` makes has been quiet for long.
  private static func isQuiet(_ descriptor: Int32) -> Bool {
    guard let version = FileVersion(descriptor) else { return false }
    let now = Timestamp.now()
    let age = now.seconds * 1000 + Int64(now.nanoseconds / 1_000_000) - version.modified / 1_000_000
    guard 0..<quiet ~= age else { return true }
    poll(nil, 0, Int32(quiet - age))
    return FileVersion(descriptor) == version
  }

  /// Milliseconds.
  private static let quiet: Int64 = 500

  /// A list of the items looks at the lock for a moment, a drain keeps it.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<5 {
      if clibc_lock(descriptor) == 0 { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  /// `too large (210 MB > 200 MB)`, in units of 2 to the 20, the file's rounded up;
  /// in bytes where the limit is not a whole number of them.
  static func tooLarge(_ size: Int64, maxSize: Int64) -> String {
    guard isWhole(maxSize) else { return "too large (\(size) B > \(maxSize) B)" }
    return "too large (\((size - 1) / unit + 1) MB > \(maxSize / unit) MB)"
  }

  static func tooLarge(maxSize: Int64) -> String {
    "too large (more than \(isWhole(maxSize) ? "\(maxSize / unit) MB" : "\(maxSize) B"))"
  }

  private static let unit: Int64 = 1 << 20
  private static func isWhole(_ size: Int64) -> Bool { size >= unit && size % unit == 0 }
}
