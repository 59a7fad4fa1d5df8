import CLibc

/// Keeps others who ask for the same lock away; the system lifts it when the process
/// ends.
public enum FileLock {
  /// Does something with a file while holding its lock, which is a file beside it: the
  /// file itself is replaced meanwhile.
  ///
  /// - Parameters:
  ///   - seconds: how long another holder is waited for.
  ///   - busy: how one leaves that cannot have the lock for another holder.
  /// - Throws: `Failure` of `body`, or when the lock cannot be had.
  public static func hold<Result>(
    beside path: String, seconds: Double = 10, busy: ExitStatus = .failure,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let name = path + ".lock"
    let descriptor = try OwnPath.append(name)
    defer { close(descriptor) }
    let deadline = Clock.monotonic + seconds
    while clibc_flock(descriptor) != 0 {
      let code = systemError
      guard code == EWOULDBLOCK || code == EINTR else {
        throw Failure(name, systemReason(code))
      }
      guard Clock.monotonic < deadline else {
        throw Failure(name, "locked by another command", busy)
      }
      usleep(2000)
    }
    return try body()
  }
}
