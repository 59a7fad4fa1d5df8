import CLibc
import Core

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// Keeps a store to one server: a second one's streams would miss what the first stores.
struct StoreLock {
  #if os(Linux)
    /// F_OFD_SETLK, which Swift does not import.
    private static let lockOpenFile: Int32 = 37
  #endif

  /// Takes the lock for the life of the process; the file is made when there is none.
  static func take(_ path: String) throws(Failure) -> String {
    let place = try OwnPath.resolve(path)
    let database = FileName.with(place) {
      open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }
    guard database >= 0, let resolved = realpath(place) else {
      throw Failure(path, systemReason(systemError))
    }
    let descriptor = FileName.with(resolved + ".lock") {
      open($0, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    }
    if descriptor < 0 { throw Failure(path, systemReason(systemError)) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    var isFree = fcntl(descriptor, F_SETLK, &lock) == 0
    #if os(Linux)
      // The file beside it does not know hard links. A byte that SQLite never
      // locks, by a lock that does not go when SQLite closes the file.
      lock.l_start = .max - 1
      lock.l_len = 1
      isFree = isFree && fcntl(database, lockOpenFile, &lock) == 0
    #endif
    // `database` stays open: closing it would undo the locks of SQLite.
    if !isFree { throw Failure(path, "in use by another agent-serve") }
    return resolved
  }
}
