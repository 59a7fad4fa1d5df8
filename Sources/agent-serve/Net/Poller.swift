import CEvent
import CLibc
import Core

/// The thread that watches all sockets of the server, and runs the tasks that wait for them:
/// what is isolated to it needs no lock, and a client that speaks wakes one thread, not two.
///
/// Nothing on it may block, or compute for more than a few milliseconds.
@globalActor
actor Poller {
  static let shared = Poller()

  nonisolated private let thread = PollerThread()
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  nonisolated static var executor: any TaskExecutor { shared.thread }

  /// Starts a task here. What it waits for resumes it here as well, and not by way of another
  /// thread; so do those of its children, and actors that it calls.
  @discardableResult
  nonisolated static func start<Success: Sendable>(
    _ body: @escaping @Poller @Sendable () async -> Success
  ) -> Task<Success, Never> { Task(executorPreference: shared.thread, operation: body) }

  @discardableResult
  nonisolated static func start<Success: Sendable>(
    throwing body: @escaping @Poller @Sendable () async throws -> Success
  ) -> Task<Success, any Error> { Task(executorPreference: shared.thread, operation: body) }

  /// Runs something on the threads of all other tasks: what computes for long.
  @Poller
  static func elsewhere<Success: Sendable>(
    _ body: @escaping @Sendable @concurrent () async throws -> Success
  ) async throws -> Success {
    try await Task(executorPreference: globalConcurrentExecutor, operation: body).value
  }

  /// Waits; as `Task.sleep`, which would need descriptors of its own.
  @Poller
  static func sleep(for duration: Duration) async throws {
    let nap = Nap()
    await withTaskCancellationHandler {
      await nap.wait(until: .now + duration)
    } onCancel: {
      Poller.start { nap.end() }
    }
    try Task.checkCancellation()
  }

  @Poller
  private final class Nap: Alarm {
    private var sleeper: UnsafeContinuation<Void, Never>?

    func wait(until time: ContinuousClock.Instant) async {
      await withUnsafeContinuation { sleeper in
        if Task.isCancelled { return sleeper.resume() }
        self.sleeper = sleeper
        set(time)
      }
    }

    func end() {
      set(nil)
      ring()
    }

    override func ring() {
      sleeper?.resume()
      sleeper = nil
    }
  }

  @Poller
  static func after(_ duration: Duration, _ body: @escaping @Poller () -> Void) {
    Call(body).set(.now + duration)
  }

  /// Where all read into: what comes is taken out of it before anybody waits.
  @Poller static let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: 64 * 1024, alignment: 4096)

  /// For what libevent calls, which it does on the poller's thread alone.
  nonisolated static func onThread<Result>(_ body: @Poller () -> Result) -> Result {
    shared.thread.checkIsolated()
    return withoutActuallyEscaping(body) { body in
      // The type alone says where it may be called.
      unsafeBitCast(body, to: (() -> Result).self)()
    }
  }

  /// Says when a descriptor is ready, once for each time that it becomes so (edge-triggered).
  /// Returns what to give to `event_free`; nil where the system watches no more.
  @Poller
  static func watch(
    _ descriptor: Int32, _ context: UnsafeMutableRawPointer,
    _ body: @escaping @convention(c) (Int32, Int16, UnsafeMutableRawPointer?) -> Void
  ) -> OpaquePointer? {
    let what = Int16(
      EV_READ | EV_WRITE | (tellsEnds ? EV_CLOSED : 0) | EV_ET | EV_PERSIST)
    guard let event = event_new(shared.thread.base, descriptor, what, body, context) else {
      return nil
    }
    if event_add(event, nil) == 0 { return event }
    event_free(event)
    return nil
  }

  /// Whether the end of what comes is told as such, together with what came before it.
  @Poller static let tellsEnds =
    event_base_get_features(shared.thread.base) & Int32(EV_FEATURE_EARLY_CLOSE.rawValue) != 0

  @Poller fileprivate static var alarms = AlarmHeap()
  @Poller private static let timer = event_new(
    shared.thread.base, -1, 0, { _, _, _ in Poller.onThread { Poller.ring() } }, nil)
  @Poller private static var timerDue: ContinuousClock.Instant?

  @Poller
  fileprivate static func setTimer() {
    guard let due = alarms.first?.due else { return }
    if let timerDue, timerDue <= due { return }
    timerDue = due
    let wait = max(due - .now, .zero).components
    var time = timeval(
      tv_sec: .init(wait.seconds), tv_usec: .init(wait.attoseconds / 1_000_000_000_000))
    event_add(timer, &time)
  }

  @Poller
  private static func ring() {
    timerDue = nil
    let now = ContinuousClock.now
    while let alarm = alarms.first, alarm.due <= now {
      alarms.remove(alarm)
      alarm.ring()
    }
    setTimer()
  }
}

/// Lets a few in at a time, in the order in which they come.
@Poller
final class Gate {
  private var free: Int
  private var waiters: [UnsafeContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  @inline(never)
  func enter() async {
    if free > 0 {
      free -= 1
    } else {
      await withUnsafeContinuation { waiter in
        // Others may have had their turn.
        if free > 0 {
          free -= 1
          waiter.resume()
        } else {
          waiters.append(waiter)
        }
      }
    }
  }

  func leave() {
    if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
  }
}

@Poller
class Alarm {
  fileprivate(set) final var due = ContinuousClock.now
  /// Where it is in the heap; -1 while it is not set.
  fileprivate final var place = -1

  /// Sets it; nil for never.
  final func set(_ time: ContinuousClock.Instant?) {
    if place >= 0 { Poller.alarms.remove(self) }
    guard let time else { return }
    due = time
    Poller.alarms.add(self)
    Poller.setTimer()
  }

  final func comes(by time: ContinuousClock.Instant) -> Bool { place >= 0 && due <= time }

  func ring() {}
}

@Poller
final class Call: Alarm {
  private let body: @Poller () -> Void

  init(_ body: @escaping @Poller () -> Void) { self.body = body }

  override func ring() { body() }
}

/// Alarms by their times: a binary heap, whose members know their places.
@Poller
private struct AlarmHeap {
  private var alarms: [Alarm] = []

  nonisolated init() {}

  var first: Alarm? { alarms.first }

  mutating func add(_ alarm: Alarm) {
    alarm.place = alarms.count
    alarms.append(alarm)
    rise(alarm.place)
  }

  mutating func remove(_ alarm: Alarm) {
    let place = alarm.place
    alarm.place = -1
    let last = alarms.removeLast()
    guard last !== alarm else { return }
    alarms[place] = last
    last.place = place
    rise(place)
    sink(last.place)
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, alarms[place].due < alarms[(place - 1) / 2].due {
      swap(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while 2 * place + 1 < alarms.count {
      let left = 2 * place + 1
      let right = left + 1
      let less = right < alarms.count && alarms[right].due < alarms[left].due ? right : left
      guard alarms[less].due < alarms[place].due else { return }
      swap(place, less)
      place = less
    }
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    alarms.swapAt(a, b)
    alarms[a].place = a
    alarms[b].place = b
  }
}

/// Runs jobs and waits for events, in turn.
///
/// It is the executor of what is isolated to the poller, and the one that its tasks prefer: all
/// that runs on the thread runs one after the other.
private final class PollerThread: SerialExecutor, TaskExecutor, @unchecked Sendable {
  private struct Queue {
    var jobs: [UnownedJob] = []
    var isAsleep = false
    var thread: pthread_t?
  }

  private let queue = Guarded(Queue())
  /// Of the thread alone.
  nonisolated(unsafe) let base: OpaquePointer
  private let wakeEnd: Int32

  init() {
    let configuration = event_config_new()
    event_config_require_features(configuration, Int32(EV_FEATURE_ET.rawValue))
    event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
    var ends: [Int32] = [-1, -1]
    guard let base = event_base_new_with_config(configuration), clibc_pipe(&ends, 0) == 0 else {
      Diagnostics(program: "agent-serve").fail("no poller: \(systemReason(clibc_errno()))")
    }
    event_config_free(configuration)
    self.base = base
    wakeEnd = ends[1]
    let wake = event_new(
      base, ends[0], Int16(EV_READ | EV_PERSIST),
      { end, _, _ in
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) {
          _ = read(end, $0.baseAddress, 256)
        }
      }, nil)
    event_add(wake, nil)
    OwnThread.require { self.run() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let wakes = queue.withLock { queue in
      queue.jobs.append(job)
      guard queue.isAsleep, let thread = queue.thread, pthread_equal(thread, pthread_self()) == 0
      else { return false }
      queue.isAsleep = false
      return true
    }
    if wakes { _ = write(wakeEnd, "x", 1) }
  }

  func checkIsolated() {
    precondition(
      queue.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false })
  }

  private func run() {
    queue.withLock { $0.thread = pthread_self() }
    var batch: [UnownedJob] = []
    while true {
      queue.withLock { queue in
        queue.isAsleep = false
        swap(&batch, &queue.jobs)
      }
      for job in batch {
        job.runSynchronously(
          isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      batch.removeAll(keepingCapacity: true)
      let isIdle = queue.withLock { queue in
        queue.isAsleep = queue.jobs.isEmpty
        return queue.isAsleep
      }
      // Without ONCE a loop that does not block may never return.
      event_base_loop(base, EVLOOP_ONCE | (isIdle ? 0 : EVLOOP_NONBLOCK))
    }
  }
}
