import CLibc
import Core

/// Publishes the actions of a store to a bus, each once, whatever is killed meanwhile.
///
/// A thread of its own feeds bus-put from the store, in the order of the ids, and keeps how far
/// the server has acknowledged them. Serving never waits for it.
final class BusFeed: Sendable {
  /// Which bus: a section of the configuration, and the name in front of all subjects.
  struct Target: Equatable, Sendable {
    let bus: String
    let agent: String?
  }

  private let wakeEnds: (read: Int32, write: Int32)
  private let isStopping = Guarded(false)
  private let over: AsyncStream<Void>
  private let loop: @Sendable () -> Void

  init(_ target: Target, _ store: ActionStore, _ diagnostics: Diagnostics) async throws {
    let (mark, isNew) = try await store.busMark(target.bus)
    var ends: [Int32] = [-1, -1]
    // Whoever wakes does not wait: a full pipe wakes as well.
    guard clibc_pipe(&ends, 1) == 0 else { throw Failure("bus", systemReason(systemError)) }
    let wakeEnds = (read: ends[0], write: ends[1])
    self.wakeEnds = wakeEnds
    let (over, continuation) = AsyncStream.makeStream(of: Void.self)
    self.over = over
    loop = { [isStopping] in
      BusFeedLoop(target, store, mark, isNew: isNew, wake: wakeEnds.read, diagnostics) {
        isStopping.withLock { $0 }
      }.run()
      continuation.finish()
    }
  }

  deinit { for end in [wakeEnds.read, wakeEnds.write] { close(end) } }

  func start() { OwnThread.require(loop) }

  func wake() { _ = write(wakeEnds.write, "w", 1) }

  /// Ends it, when what is under way was acknowledged, a second later at most.
  func stop() async {
    isStopping.withLock { $0 = true }
    wake()
    for await _ in over {}
  }
}
