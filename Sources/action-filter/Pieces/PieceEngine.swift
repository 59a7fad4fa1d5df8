import CLibc
import Core

/// Lets threads work on the pieces of a source, and hands over what they did, in order.
///
/// The thread that ends the piece whose turn it is hands it over, and those behind it that
/// wait for it: nobody is woken for that, and the bytes are still in the cache of the core.
/// There are two pieces for each thread at most, those that wait among them: memory is
/// bounded, however long the source is.
final class PieceEngine {
  /// What each thread does with a piece.
  typealias Worker = (PieceSlot) -> Void

  private let workers: [Worker]
  private let slots: [PieceSlot]
  private let size: Int
  /// Held while the source is asked.
  private let turn = Lock()
  /// Held while anything below is looked at, but for what only the thread has that merges.
  private let state = Lock()
  private var source: (any PieceSource)?
  private var path = ""
  private var free: [PieceSlot] = []
  /// The slots of the pieces that were begun: that of number n at n modulo their count.
  private var begun: [PieceSlot]
  private var beginning = 0
  private var merged = 0
  /// Whether a thread hands over what is done; it looks for more before it leaves.
  private var isMerging = false
  private var merge: ((PieceSlot) throws -> Bool)?
  private var failure: (any Error)?
  private var isOver = false

  init(_ workers: [Worker], size: Int) {
    (self.workers, self.size) = (workers, size)
    slots = (0..<2 * workers.count).map { _ in PieceSlot(size: size) }
    begun = slots
  }

  /// Works on all pieces of a source.
  func run(_ source: any PieceSource, merge: (PieceSlot) throws -> Bool) throws {
    for slot in slots { slot.clear(size) }
    (free, beginning, merged, isMerging, isOver, path) = (slots, 0, 0, false, false, "")
    withoutActuallyEscaping(merge) { merge in
      (self.source, self.merge) = (source, merge)
      // Where the system has no thread to give, those that there are do the work.
      let threads = workers.dropFirst().compactMap { start($0) }
      work(workers[0])
      for thread in threads { pthread_join(thread, nil) }
      (self.source, self.merge) = (nil, nil)
    }
    if let failure {
      self.failure = nil
      throw failure
    }
  }

  // MARK: - Threads

  private final class Task {
    let engine: PieceEngine
    let worker: Worker
    init(_ engine: PieceEngine, _ worker: @escaping Worker) {
      (self.engine, self.worker) = (engine, worker)
    }
  }

  private func start(_ worker: @escaping Worker) -> pthread_t? {
    let task = Unmanaged.passRetained(Task(self, worker))
    let thread = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
    defer { thread.deallocate() }
    let status = clibc_thread_start(
      thread,
      { context in
        guard let context else { return }
        let task = Unmanaged<Task>.fromOpaque(context).takeRetainedValue()
        task.engine.work(task.worker)
      }, task.toOpaque())
    guard status == 0 else {
      task.release()
      return nil
    }
    return thread.move()
  }

  private func work(_ worker: Worker) {
    while let slot = begin() {
      if slot.failure == nil, let fill = slot.piece.fill {
        do throws(Failure) { try fill(slot.buffer) } catch { slot.failure = error }
      }
      if slot.piece.taken == nil { worker(slot) }
      end(slot)
    }
  }

  private func begin() -> PieceSlot? {
    turn.lock()
    defer { turn.unlock() }
    guard let source, let slot = takeFree() else { return nil }
    var isLast = false
    do throws(Failure) {
      guard let piece = try source.next(slot.buffer) else {
        finish()
        return nil
      }
      slot.piece = piece
      path = piece.path
    } catch {
      slot.piece = Piece(path: path)
      slot.failure = error
      isLast = true
    }
    state.lock()
    begun[beginning % begun.count] = slot
    beginning += 1
    if isLast { isOver = true }
    state.unlock()
    return slot
  }

  private func takeFree() -> PieceSlot? {
    state.lock()
    defer { state.unlock() }
    while free.isEmpty && !isOver { state.wait() }
    return isOver ? nil : free.removeLast()
  }

  private func finish() {
    state.lock()
    isOver = true
    state.unlock()
  }

  // MARK: - Putting together

  /// Notes that a piece is done, and hands over all whose turn it is, unless another thread
  /// is about to.
  private func end(_ slot: PieceSlot) {
    state.lock()
    defer { state.unlock() }
    slot.isDone = true
    if isMerging { return }
    isMerging = true
    while merged < beginning, begun[merged % begun.count].isDone {
      let next = begun[merged % begun.count]
      state.unlock()
      let isWanted = handOver(next)
      next.clear(size)
      state.lock()
      if !isWanted {
        isOver = true
        state.signal()
        // Nobody hands over anything behind it.
        return
      }
      merged += 1
      free.append(next)
      state.signal()
    }
    isMerging = false
  }

  /// Whether more are wanted.
  private func handOver(_ slot: PieceSlot) -> Bool {
    do {
      if try merge?(slot) != true { return false }
      if !slot.piece.isAlone { failure = slot.failure }
    } catch {
      failure = error
    }
    return failure == nil
  }
}

/// A lock, and a signal for those that wait while they hold it.
final class Lock {
  let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  /// Gives the lock away until there is a signal, or for no reason.
  func wait() { pthread_cond_wait(condition, mutex) }
  func signal() { pthread_cond_signal(condition) }
}
