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
    guard let lock = try LockFile(name, patience: seconds) else {
      throw Failure(name, "locked by another command", busy)
    }
    defer { lock.release() }
    return try body()
  }
}

/// A file that is locked until `release`, so that of several processes one at a time does
/// something. The system gives the lock back when a process ends, however it ends.
public final class LockFile {
  private var descriptor: Int32

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - path: the file, made for the user alone where there is none; it stays.
  ///   - patience: how long to wait for others, seconds.
  /// - Returns: nil when others have it for longer.
  /// - Throws: `Failure` when the file cannot be made or locked.
  public init?(_ path: String, patience: Double) throws(Failure) {
    descriptor = try OwnPath.append(path)
    let deadline = Clock.monotonic + patience
    var pause: UInt32 = 500
    while clibc_lock(descriptor) != 0 {
      let code = systemError
      guard code == EWOULDBLOCK || code == EINTR else {
        release()
        throw Failure(path, systemReason(code))
      }
      if Clock.monotonic >= deadline {
        release()
        return nil
      }
      usleep(pause)
      pause = min(pause * 2, 4000)
    }
  }

  /// Lets others have it; once more does nothing.
  public func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  deinit { release() }
}
