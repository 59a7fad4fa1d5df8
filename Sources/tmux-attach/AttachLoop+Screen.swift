import CLibc
import Core
import Screen
import Shell

/// The terminal: its signals, its size, the status line.
extension AttachLoop {
  func heedSignals() {
    guard set.isReadable(signals.descriptor) else { return }
    let taken = signals.take()
    if let signal = taken.ending {
      outcome = AttachOutcome(signal: signal)
      return
    }
    if taken.isStopped {
      suspend()
    } else if taken.isContinued {
      terminal.goOn()
      nudge()
    }
    if taken.isResized || taken.isStopped {
      tellSize()
      status.refresh()
    }
  }

  func suspend() {
    // An ssh that is held back would get no more turns.
    channel?.resize(toldSize)
    guard terminal.stop() else {
      outcome = AttachOutcome(signal: SIGHUP)
      return
    }
    // The signal that woke us is not a second stop.
    _ = signals.take()
    status.refresh()
    nudge()
  }

  func tellSize() {
    nudgeEnd = nil
    guard let channel else { return }
    toldSize = terminal.size
    channel.resize(toldSize)
  }

  /// Makes the far end draw everything anew: tmux does when the size changes, and only
  /// then hears of it.
  func nudge() {
    guard case .attached = phase, let channel else { return }
    status.forget()
    var size = terminal.size
    size.rows += size.rows > 2 ? -1 : 1
    channel.resize(size)
    nudgeEnd = Clock.monotonic + 0.05
  }

  func show(_ state: StatusLine.State) {
    let text = status.show(
      state, terminal.size, onLastRow: reconnect.hasAttached,
      isInSequence: terminal.modes.isInSequence)
    terminal.draw(text)
  }
}

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
      keys.append(typed)
    case .opening, .starting:
      if !reconnect.hasAttached || isTalking { keys.append(typed) }
    }
  }
}
