import CLibc

final class Lock {
  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }
}

final class Condition {
  private let lock: Lock
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(of lock: Lock) {
    self.lock = lock
    condition.initialize(to: pthread_cond_t())
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    condition.deallocate()
  }

  /// Gives the lock away until there is a signal, or for no reason.
  func wait() { pthread_cond_wait(condition, lock.mutex) }
  func signal() { pthread_cond_signal(condition) }
}
