import CLibc
import Core

/// An item that is being delivered: its file is open and locked, and everything is
/// read from there; its name is not looked at again but to remove it.
final class OpenItem {
  /// Why an item cannot be delivered now.
  enum Obstacle: Error, Equatable {
    /// It has gone, or another process has it: nothing to say.
    case taken
    /// It has been left alone for this reason.
    case foreign(String)
    /// It stays queued for this reason.
    case waits(String)
    /// It never will be, unless asked for again.
    case never(String)
  }

  let item: InboxItem
  let descriptor: Int32
  /// Bytes; what is sent.
  let size: Int

  /// Opens an item.
  ///
  /// - Parameter maxSize: the most bytes that are sent.
  /// - Throws: `Obstacle`.
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
      size = Int(try Self.inspect(descriptor, maxSize).st_size)
    } catch {
      close(descriptor)
      throw error
    }
    self.item = item
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private static func inspect(_ descriptor: Int32, _ maxSize: Int64) throws(Obstacle) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .waits(systemReason(systemError)) }
    if let objection = InboxFolder.objection(status) { throw .foreign("\(objection), left alone") }
    guard clibc_lock(descriptor) == 0 else { throw .taken }
    // Who had the lock before may have delivered it.
    guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { throw .taken }
    guard status.st_size <= maxSize else {
      throw .never("too large (\(megabytes(status.st_size)) MB > \(megabytes(maxSize)) MB)")
    }
    if clibc_is_being_written(descriptor) != 0 { throw .waits("still being written") }
    return status
  }

  /// In units of 2 to the 20, rounded up.
  private static func megabytes(_ bytes: some BinaryInteger) -> Int64 {
    (Int64(bytes) + (1 << 20) - 1) >> 20
  }
}
