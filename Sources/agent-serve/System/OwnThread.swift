import CLibc
import Core

/// A thread for what blocks, which the few of the tasks must not.
enum OwnThread {
  fileprivate final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs something on a thread of its own, which ends with it. A process that gets no more
  /// threads ends.
  static func start(_ body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    let code = clibc_thread(run, work)
    precondition(code == 0, "no thread: \(systemReason(code))")
  }
}

private func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let work { Unmanaged<OwnThread.Work>.fromOpaque(work).takeRetainedValue().body() }
  return nil
}
