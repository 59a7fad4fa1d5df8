import CLibc
import Core

/// What a thread does with a piece when its lines are in the buffer.
protocol PieceWorker: AnyObject {
  /// Reads the lines, and puts what comes of them into the result.
  func work(on slot: PieceSlot)
}

/// Lets threads work on the pieces of a source, and hands over what they did, in order.
///
/// There are two pieces for each thread at most, those that are done and wait for their turn
/// among them: memory is bounded, however long the source is.
final class PieceEngine {
  private let workers: [any PieceWorker]
  private let slots: [PieceSlot]
  private let size: Int
  /// Held while the source is asked.
  private let turn = Lock()
  /// Held while anything below is looked at.
  private let state = Lock()
  /// The slot that is put together next is done, or there is none any more.
  private let isReady: Condition
  /// A slot is free.
  private let isFree: Condition
  private var source: (any PieceSource)?
  /// What is read.
  private var path = ""
  private var free: [PieceSlot] = []
  /// The slots of the pieces that were begun: that of number n at n modulo their count.
  private var begun: [PieceSlot]
  private var beginning = 0
  private var merged = 0
  /// Whether the source has no more pieces.
  private var isAtEnd = false
  /// Whether no more are wanted.
  private var isStopped = false

  /// - Parameters:
  ///   - workers: one for each thread.
  ///   - size: how much is read at a time, bytes.
  init(_ workers: [any PieceWorker], size: Int) {
    (self.workers, self.size) = (workers, size)
    slots = (0..<2 * workers.count).map { _ in PieceSlot(size: size) }
    begun = slots
    isReady = Condition(of: state)
    isFree = Condition(of: state)
  }

  /// Works on all pieces of a source.
  ///
  /// - Parameters:
  ///   - source: where they come from.
  ///   - merge: takes one after the other; false when no more are wanted.
  /// - Throws: `ReadFailure` of the source, after all that could be read was handed over; or
  ///   what `merge` throws. No thread runs any more then.
  func run(_ source: any PieceSource, merge: (PieceSlot) throws -> Bool) throws {
    self.source = source
    for slot in slots { slot.clear(size) }
    (free, beginning, merged, isAtEnd, isStopped) = (slots, 0, 0, false, false)
    var threads: [pthread_t] = []
    defer {
      stop()
      for thread in threads { pthread_join(thread, nil) }
      self.source = nil
    }
    for worker in workers {
      guard let thread = start(worker) else { break }
      threads.append(thread)
    }
    if threads.isEmpty { return try runAlone(merge) }
    while let slot = nextDone() {
      guard try take(slot, merge) else { return }
      give(back: slot)
    }
  }

  /// What is to be done where the system has no thread to give.
  private func runAlone(_ merge: (PieceSlot) throws -> Bool) throws {
    while let slot = begin() {
      work(workers[0], on: slot)
      guard try take(slot, merge) else { return }
      give(back: slot)
    }
  }

  private func take(_ slot: PieceSlot, _ merge: (PieceSlot) throws -> Bool) throws -> Bool {
    let isWanted = try merge(slot)
    if isWanted, let failure = slot.failure { throw failure }
    return isWanted
  }

  // MARK: - Threads

  /// What a thread is given.
  private final class Task {
    let engine: PieceEngine
    let worker: any PieceWorker
    init(_ engine: PieceEngine, _ worker: any PieceWorker) {
      (self.engine, self.worker) = (engine, worker)
    }
  }

  private func start(_ worker: any PieceWorker) -> pthread_t? {
    let task = Unmanaged.passRetained(Task(self, worker))
    let thread = UnsafeMutablePointer<pthread_t>.allocate(capacity: 1)
    defer { thread.deallocate() }
    let status = clibc_thread_start(
      thread,
      { context in
        guard let context else { return }
        let task = Unmanaged<Task>.fromOpaque(context).takeRetainedValue()
        let (engine, worker) = (task.engine, task.worker)
        while let slot = engine.begin() {
          engine.work(worker, on: slot)
          engine.end(slot)
        }
      }, task.toOpaque())
    guard status == 0 else {
      task.release()
      return nil
    }
    return thread.move()
  }

  /// Begins with the next piece; nil when there is none.
  private func begin() -> PieceSlot? {
    turn.lock()
    defer { turn.unlock() }
    guard let source, let slot = takeFree() else { return nil }
    var isLast = false
    do throws(ReadFailure) {
      guard let piece = try source.next(slot.buffer) else {
        noteEnd(giving: slot)
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
    slot.number = beginning
    begun[beginning % begun.count] = slot
    beginning += 1
    if isLast { isAtEnd = true }
    state.unlock()
    return slot
  }

  private func takeFree() -> PieceSlot? {
    state.lock()
    defer { state.unlock() }
    while free.isEmpty && !isStopped && !isAtEnd { isFree.wait() }
    return isStopped || isAtEnd ? nil : free.removeLast()
  }

  private func noteEnd(giving slot: PieceSlot) {
    state.lock()
    isAtEnd = true
    free.append(slot)
    isReady.signal()
    state.unlock()
  }

  private func work(_ worker: any PieceWorker, on slot: PieceSlot) {
    if slot.failure == nil, let fill = slot.piece.fill {
      do throws(ReadFailure) { try fill(slot.buffer) } catch { slot.failure = error }
    }
    worker.work(on: slot)
  }

  private func end(_ slot: PieceSlot) {
    state.lock()
    slot.isDone = true
    if slot.number == merged { isReady.signal() }
    state.unlock()
  }

  // MARK: - Putting together

  /// Waits for the next piece in order; nil when there is none any more.
  private func nextDone() -> PieceSlot? {
    state.lock()
    defer { state.unlock() }
    while true {
      if merged < beginning {
        let slot = begun[merged % begun.count]
        if slot.isDone { return slot }
      } else if isAtEnd {
        return nil
      }
      isReady.wait()
    }
  }

  private func give(back slot: PieceSlot) {
    slot.clear(size)
    state.lock()
    merged += 1
    free.append(slot)
    isFree.signal()
    state.unlock()
  }

  /// Sends the threads home, and makes the slots ready for another source.
  private func stop() {
    state.lock()
    isStopped = true
    isFree.broadcast()
    state.unlock()
  }
}
