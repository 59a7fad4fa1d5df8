import Core
import Foundation

/// Keeps a store to one server: the streams of a second one would miss what
/// the first one stores.
struct StoreLock {
  /// Takes the lock of a store, for the life of the process.
  ///
  /// - Parameter path: the store's file; the lock is a file beside it.
  /// - Throws: `SettingsError` when another process has it.
  static func take(_ path: String) throws(SettingsError) {
    if path == ":memory:" { return }
    let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw SettingsError(path, systemReason(errno)) }
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    if fcntl(descriptor, F_SETLK, &lock) != 0 {
      throw SettingsError(path, "in use by another agent-serve")
    }
  }
}
