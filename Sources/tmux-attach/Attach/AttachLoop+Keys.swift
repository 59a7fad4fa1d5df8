import CLibc
import Core
import Shell

/// What the user types.
extension AttachLoop {
  func readKeys() {
    var bytes = [UInt8](repeating: 0, count: min(4096, keyRoom))
    let count = read(terminal.input, &bytes, bytes.count)
    if count < 0 && (systemError == EINTR || systemError == EAGAIN) { return }
    guard count > 0 else {
      outcome = AttachOutcome(signal: SIGHUP)
      return
    }
    for part in escapes.take(bytes[..<count]) {
      switch part {
      case .command(.end):
        // What was typed before goes out if it can at once.
        sendKeys()
        link?.advance(PollSet(), now: Clock.monotonic)
        outcome = .left(plan, hasAttached: reconnect.hasAttached)
        terminal.forgetOutput()
        return
      case .command(.suspend): suspend()
      case .command(.list): show(.escapes)
      case .keys(let typed): take(typed)
      }
    }
  }

  private func take(_ typed: [UInt8]) {
    switch phase {
    case .waiting(_, let why):
      if typed.contains(0x0d) { phase = .waiting(until: 0, why: why) }
    case .attached:
      if status.isShown { nudge() }
      typed.withUnsafeBytes { keys.append($0) }
    case .opening, .starting:
      if !reconnect.hasAttached || isTalking { typed.withUnsafeBytes { keys.append($0) } }
    }
  }
}
