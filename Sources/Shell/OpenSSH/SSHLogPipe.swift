import CLibc
import Core

/// Where an ssh writes its log: a FIFO, so that the loop hears of each line at once.
final class SSHLogPipe {
  /// What it said so far.
  private(set) var log = SSHLog()
  /// For `-E`.
  let path: String
  private var descriptor: Int32

  /// - Parameter folder: for the user alone.
  /// - Throws: `SettingsError`.
  init(in folder: String, name: String) throws(SettingsError) {
    path = folder + "/" + name
    descriptor = clibc_fifo(path)
    guard descriptor >= 0 else { throw SettingsError(path, systemReason(systemError)) }
  }

  deinit { close() }

  func wants(_ set: inout PollSet) { set.add(descriptor) }

  /// Reads what there is.
  ///
  /// - Returns: whether anything came.
  @discardableResult
  func pump() -> Bool {
    guard descriptor >= 0 else { return false }
    let before = log.count
    withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 16) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0 && systemError == EINTR { continue }
        if count <= 0 { break }
        log.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
    return log.count != before
  }

  func close() {
    guard descriptor >= 0 else { return }
    CLibc.close(descriptor)
    descriptor = -1
    unlink(path)
  }
}
