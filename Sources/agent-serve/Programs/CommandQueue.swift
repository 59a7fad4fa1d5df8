import Core

/// Runs commands of one kind, a few at a time; the others wait, as long as they are few.
actor CommandQueue {
  typealias Result = (output: [UInt8], ending: CommandProcess.Ending)

  private let limit: Int
  private let waitLimit: Int
  private var active = 0
  private var lastNumber = 0
  private var running: [Int: CommandProcess] = [:]
  private var waiting: [CheckedContinuation<Bool, Never>] = []
  private var isOver = false

  init(limit: Int, waitLimit: Int) {
    (self.limit, self.waitLimit) = (limit, waitLimit)
  }

  /// Runs a command when its turn has come. Returns nil when too many wait, or when the server
  /// stops.
  func run(
    _ start: @Sendable () throws(Failure) -> CommandProcess,
    tidy: @Sendable () -> Void = {}
  ) async throws(Failure) -> Result? {
    guard await enter() else { return nil }
    defer { leave() }
    defer { tidy() }
    if isOver { return nil }
    let process = try start()
    lastNumber += 1
    let number = lastNumber
    running[number] = process
    defer { running[number] = nil }
    var output: [UInt8] = []
    for await event in process.events {
      switch event {
      case .output(let bytes): output += bytes
      case .notes: break
      case .ended(.stopped): return nil
      case .ended(let ending): return (output, ending)
      }
    }
    return nil
  }

  /// Ends what runs, and lets nothing begin. Returns when nothing is left of it, whoever waits
  /// for that or not; after three seconds in any case.
  func stop() async {
    isOver = true
    for process in running.values { process.stop() }
    for turn in waiting { turn.resume(returning: false) }
    waiting = []
    // A command that does not end by itself is killed by then.
    for _ in 0..<300 where active > 0 { try? await Poller.sleep(for: .milliseconds(10)) }
  }

  private func enter() async -> Bool {
    if isOver { return false }
    if active < limit {
      active += 1
      return true
    }
    guard waiting.count < waitLimit else { return false }
    return await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    // The place goes to the next one, as it is.
    if waiting.isEmpty { active -= 1 } else { waiting.removeFirst().resume(returning: true) }
  }
}
