import Core

/// What a command made.
enum CommandMade<Product: Sendable>: Sendable {
  case done(Product)
  case failed(String)
  /// Too many wait, or the server stops.
  case busy
}

/// Runs commands of one kind, a few at a time; the others wait, as long as they are few.
actor CommandQueue {
  private let limit: Int
  private let waitLimit: Int
  private var active = 0
  private var running: [CommandProcess] = []
  private var waiting: [CheckedContinuation<Bool, Never>] = []
  private var isOver = false

  init(limit: Int, waitLimit: Int) {
    (self.limit, self.waitLimit) = (limit, waitLimit)
  }

  /// Runs a command when its turn has come.
  func run(
    tidy: @Sendable () -> Void = {}, _ start: @Sendable () throws(Failure) -> CommandProcess
  ) async -> CommandMade<[UInt8]> {
    guard await enter() else { return .busy }
    defer { leave() }
    defer { tidy() }
    if isOver { return .busy }
    let process: CommandProcess
    do throws(Failure) { process = try start() } catch { return .failed(error.message) }
    running.append(process)
    defer { running.removeAll { $0 === process } }
    var output: [UInt8] = []
    for await event in process.events {
      switch event {
      case .output(let bytes): output += bytes
      case .notes: break
      case .ended(.stopped): return .busy
      case .ended(let ending): return ending.complaint.map { .failed($0) } ?? .done(output)
      }
    }
    return .busy
  }

  /// Ends what runs, and lets nothing begin. Returns when nothing is left of it, whoever waits
  /// for that or not; after three seconds in any case.
  func stop() async {
    isOver = true
    for process in running { process.stop() }
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
