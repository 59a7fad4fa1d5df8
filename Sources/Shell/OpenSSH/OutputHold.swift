import CLibc

/// When an ssh whose output nobody takes is held back. It would read all that the host
/// still sends, up to a megabyte, and copy it anew for each packet. Stopped but for a
/// moment in each second it still answers probes, and sees a link that is dead.
struct OutputHold {
  private var isHeld = false
  /// When it is stopped next, or goes on; nil while its output is taken.
  private(set) var next: Double?

  /// Seconds that output waits before it is held, that it is held, and runs.
  private static let patience = 0.5
  private static let pause = 1.0
  private static let turn = 0.006

  /// Its output waits.
  ///
  /// - Returns: the signal that is due, nil for none.
  mutating func waiting(_ now: Double) -> Int32? {
    guard let due = next else {
      next = now + Self.patience
      return nil
    }
    guard now >= due else { return nil }
    isHeld.toggle()
    next = now + (isHeld ? Self.pause : Self.turn)
    return isHeld ? SIGSTOP : SIGCONT
  }

  /// Its output was taken.
  ///
  /// - Returns: the signal that is due, nil for none.
  mutating func taken() -> Int32? {
    next = nil
    defer { isHeld = false }
    return isHeld ? SIGCONT : nil
  }

  /// There is something for it to do beside that.
  ///
  /// - Returns: the signal that is due, nil for none.
  mutating func needed(_ now: Double) -> Int32? {
    guard isHeld else { return nil }
    isHeld = false
    next = now + Self.turn
    return SIGCONT
  }
}
