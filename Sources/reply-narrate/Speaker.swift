import CLibc
import Core

/// Runs the user's command for each narration, one after the other. The command stands still
/// while a clip is recorded.
final class Speaker {
  struct Item {
    let name: String
    let bytes: [UInt8]
  }

  private let command: String
  private let timeout: Double
  private let diagnostics: Diagnostics
  /// Whether of several that wait only the newest is spoken.
  private let newestWins: Bool
  private var queue: [Item] = []
  private var child: ChildProcess?
  private var rest: ArraySlice<UInt8> = []
  /// Seconds that the command may still run; what it stands still does not count.
  private var left = 0.0
  private var lastLook = 0.0
  private var isStopped = false
  private var isEnding = false
  private(set) var hasFailed = false

  /// One that does not end when it is asked to is killed, seconds.
  private static let grace = 2.0
  /// And so is what it started and has left behind when it was asked to end.
  private static let linger = 0.25

  init(_ command: String, timeout: Double, newestWins: Bool, _ diagnostics: Diagnostics) {
    (self.command, self.timeout, self.newestWins) = (command, timeout, newestWins)
    self.diagnostics = diagnostics
  }

  var isIdle: Bool { child == nil && queue.isEmpty }

  func add(_ item: Item) {
    if newestWins, let skipped = queue.popLast() {
      diagnostics.note("\(skipped.name): skipped for a newer one")
    }
    queue.append(item)
  }

  /// Does what can be done without waiting. Returns when to be called again at the latest.
  func work(now: Double, isRecording: Bool, mayStart: () -> Bool) -> Double {
    if let child { go(on: child, now, isRecording) }
    while child == nil, !queue.isEmpty, mayStart() { start(queue.removeFirst(), now) }
    // The end of a process is nothing that can be polled for.
    return child == nil ? .infinity : now + 0.02
  }

  /// Ends the command with all that it started, and forgets what waits.
  func stop(_ signal: Int32) {
    guard let child else { return }
    child.kill(signal)
    child.kill(SIGCONT)
    let deadline = Clock.monotonic + Self.grace
    while !child.hasEnded, Clock.monotonic < deadline { usleep(10_000) }
    usleep(UInt32(Self.linger * 1_000_000))
    child.kill(SIGKILL)
    self.child = nil
  }

  private func start(_ item: Item, _ now: Double) {
    diagnostics.note("\(item.name): spoken")
    rest = item.bytes[...]
    (left, lastLook, isStopped, isEnding) = (timeout, now, false, false)
    do throws(Failure) {
      let child = try ChildProcess(
        ["sh", "-c", command], input: .pipe, output: .ours, error: .ours, leadsGroup: true)
      self.child = child
      go(on: child, now, false)
    } catch {
      fail(error.message)
    }
  }

  private func go(on child: ChildProcess, _ now: Double, _ isRecording: Bool) {
    child.feed(&rest)
    let hasEnded = child.hasEnded
    if hasEnded, !isEnding {
      self.child = nil
      child.reap()
      if child.exitStatus != 0 {
        fail(child.endSignal.map { "ended by signal \($0)" } ?? "status \(child.exitStatus ?? 0)")
      }
      return
    }
    if !isStopped || hasEnded { left -= now - lastLook }
    lastLook = now
    if isRecording != isStopped {
      isStopped = isRecording
      child.kill(isStopped ? SIGSTOP : SIGCONT)
    }
    if hasEnded { left = min(left, Self.linger) }
    guard left < 0 else { return }
    if hasEnded {
      // Its id is that of the group until it is reaped.
      child.kill(SIGKILL)
      _ = child.waitForEnd()
      self.child = nil
      return
    }
    if !isEnding { fail("took longer than \(Int(timeout.rounded(.up))) s; see --timeout") }
    child.kill(isEnding ? SIGKILL : SIGTERM)
    (isEnding, left) = (true, Self.grace)
  }

  private func fail(_ reason: String) {
    hasFailed = true
    diagnostics.error("--exec", reason)
  }
}
