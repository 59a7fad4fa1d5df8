import CLibc
import Core

/// When an ssh whose output nobody takes is held back. It would read all that the host
/// still sends, up to a megabyte, and copy it anew for each packet. Stopped but for a
/// turn in each second it still answers probes, and sees a link that is dead.
///
/// A turn is over when the ssh has worked, not when some time has passed: where others
/// keep the processors busy it may have to wait longer than that, and one that never
/// comes to read the answer to its own probe takes a good link for a dead one. That
/// it is slow does not make it do so: it counts a probe as unanswered only where there
/// is nothing to read, and anything read counts as an answer. A host that probes it in
/// turn may have to wait some turns while it works off what it has read already.
struct OutputHold {
  private var isHeld = false
  /// When it went on, and its processor time then; nil before it was ever held.
  private var turn: (began: Double, spent: Double?)?
  /// When it is stopped or looked at next, or goes on; nil while its output is taken.
  private(set) var next: Double?

  /// Seconds that output waits before it is held, and that it is held.
  private static let patience = 0.5
  private static let pause = 1.0
  /// Seconds until the first look at a turn; then each time twice that, a second at most.
  private static let look = 0.006
  /// Seconds on a processor that are enough for a turn.
  private static let work = 0.005
  /// Seconds after which a turn is over that needed less, if it ran at all.
  private static let most = 0.18

  /// The signal that is due; `spent`: processor seconds so far, nil (short turns) if unknown.
  mutating func waiting(_ now: Double, spent: @autoclosure () -> Double?) -> Int32? {
    guard let due = next else {
      next = now + Self.patience
      return nil
    }
    guard now >= due else { return nil }
    if isHeld { return go(now, spent()) }
    if let turn, !Self.isOver(turn, now, spent()) {
      next = now + min(max(Self.look, now - turn.began), Self.pause)
      return nil
    }
    isHeld = true
    next = now + Self.pause
    return SIGSTOP
  }

  /// The signal that is due now that its output was taken.
  mutating func taken() -> Int32? {
    (next, turn) = (nil, nil)
    defer { isHeld = false }
    return isHeld ? SIGCONT : nil
  }

  /// The signal that is due now that there is something else for it to do.
  mutating func needed(_ now: Double, spent: @autoclosure () -> Double?) -> Int32? {
    isHeld ? go(now, spent()) : nil
  }

  private mutating func go(_ now: Double, _ spent: Double?) -> Int32 {
    isHeld = false
    turn = (now, spent)
    next = now + Self.look
    return SIGCONT
  }

  private static func isOver(
    _ turn: (began: Double, spent: Double?), _ now: Double, _ spent: Double?
  ) -> Bool {
    guard let before = turn.spent, let spent else { return true }
    return spent >= before + work || spent > before && now >= turn.began + most
  }
}

extension ChildProcess {
  /// Nil where the system has no clock for that (macOS).
  var processorTime: Double? {
    #if os(Linux)
      var clock = clockid_t()
      var time = timespec()
      guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
        return nil
      }
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    #else
      return nil
    #endif
  }
}
