import CLibc
import Synchronization

final class Guarded<Value>: @unchecked Sendable {
  #if AGENTUTILS_PTHREAD_LOCKS
    private let lock = PthreadLock()
  #else
    private let lock = Mutex(())
  #endif
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var result: Result?
    try lock.withLock { (_: inout Void) throws(Failure) in result = try body(&value) }
    return result!
  }
}

#if AGENTUTILS_PTHREAD_LOCKS
  /// For ThreadSanitizer, which sees nothing of `Mutex` on Linux.
  private final class PthreadLock: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(lock, nil) }

    deinit {
      pthread_mutex_destroy(lock)
      lock.deallocate()
    }

    func withLock<Failure: Error>(_ body: (inout Void) throws(Failure) -> Void) throws(Failure) {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      var nothing: Void = ()
      try body(&nothing)
    }
  }
#endif
