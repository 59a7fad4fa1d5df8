import CLibc
import Core

/// A thread for what blocks, which the few of the tasks must not.
enum OwnThread {
  private final class Work {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs something on a thread of its own, which ends with it. Returns why the system has no
  /// thread to give; nil when it runs.
  static func start(_ body: @escaping @Sendable () -> Void) -> String? {
    let work = Unmanaged.passRetained(Work(body))
    let thread = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
    defer { thread.deallocate() }
    let code = clibc_thread_start(
      thread,
      { work in
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
      }, work.toOpaque())
    guard code == 0 else {
      work.release()
      return systemReason(code)
    }
    pthread_detach(thread.move())
    return nil
  }

  /// Runs something that the server is nothing without: the process ends if it cannot.
  static func require(_ body: @escaping @Sendable () -> Void) {
    if let reason = start(body) { Diagnostics(program: "agent-serve").fail("no thread: \(reason)") }
  }
}

final class Guarded<Value>: @unchecked Sendable {
  // Not the `Mutex` of Synchronization, of which ThreadSanitizer sees nothing on Linux.
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(lock, nil)
  }

  deinit {
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return try body(&value)
  }
}
