import CLibc
import Core

/// An ssh that makes a connection and then, in the background, takes calls over it. It
/// outlives us for a minute, so that the next command finds it.
final class SSHMaster {
  enum State {
    case starting
    case up
    case failed(HostFailure)
  }

  private(set) var state = State.starting
  private let child: ChildProcess
  private let pipe: SSHLogPipe
  private let socket: String
  private let shared: () -> String
  private let patience: Double
  private let hasPerson: Bool
  private var progress: Double
  private var errors: [UInt8] = []
  /// The terminal on which it may ask.
  private let terminal: TerminalModes?

  /// The time it has to put the terminal in order, seconds.
  private static let leaving = 0.2
  /// The time a person has for a passphrase, seconds: as long as sshd(8) waits.
  private static let thinking = 120.0

  init(
    _ words: [String], _ pipe: SSHLogPipe, socket: String, shared: @escaping () -> String,
    patience: Double, hasPerson: Bool, now: Double
  ) throws(Failure) {
    // With a person, ssh asks on the controlling terminal.
    terminal = hasPerson ? TerminalModes() : nil
    child = try ChildProcess(words, output: .nothing, error: hasPerson ? .ours : .pipe)
    self.pipe = pipe
    self.socket = socket
    self.shared = shared
    self.patience = patience
    self.hasPerson = hasPerson
    progress = now
  }

  deinit {
    if case .starting = state { stop() }
    unlink(socket)
  }

  /// Ends it; a question that nobody has answered leaves the terminal as it was.
  private func stop() {
    child.end(within: Self.leaving)
    terminal?.restore()
  }

  var log: SSHLog { pipe.log }

  var deadline: Double? {
    guard case .starting = state else { return nil }
    // Its socket is there in a moment.
    if pipe.log.takesCalls { return Clock.monotonic + 0.002 }
    // Its end alone makes no descriptor readable: it is looked for, at once behind the
    // end of what it says.
    let look = Clock.monotonic + (child.error < 0 && !hasPerson ? 0.005 : 0.25)
    return min(progress + limit, look)
  }

  func wants(_ set: inout PollSet) {
    pipe.wants(&set)
    if case .starting = state { set.add(child.error) }
  }

  func advance(now: Double, judge: (SSHLog, ChildProcess, _ talk: [String]) -> Ending) {
    if pipe.pump() { progress = now }
    guard case .starting = state else { return }
    takeErrors()
    if pipe.log.cannotPin {
      state = .failed(.hostKeyUnknown(why: "the host's key is new and cannot be pinned"))
      stop()
    } else if pipe.log.takesCalls, rename(socket, shared()) == 0 {
      // Known by its lasting name only now that it is whole.
      state = .up
    } else if child.reap() {
      // Its last words may have come since we looked.
      pipe.pump()
      takeErrors()
      if child.exitStatus == 0, rename(socket, shared()) == 0 {
        state = .up
      } else {
        let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
        state =
          switch judge(pipe.log, child, lines.map(String.init)) {
          case .failed(let failure): .failed(failure)
          case let ending: .failed(.connectFailed(why: ending.reason))
          }
      }
    } else if now >= progress + limit {
      stop()
      let seconds = Int(limit.rounded())
      state = .failed(
        pipe.log.isSignedIn
          ? .linkLost(why: "no answer for \(seconds) s")
          : .connectFailed(why: "no answer for \(seconds) s"))
    }
    // In the background it may hold this open for long.
    if case .starting = state { return }
    child.closeEnds()
  }

  /// Seconds without progress.
  private var limit: Double {
    hasPerson && pipe.log.hasAuthenticationBegun ? max(patience, Self.thinking) : patience
  }

  private func takeErrors() {
    guard child.error >= 0 else { return }
    // Closed before it ends: it must not wake the loop again and again.
    if PipeEnd.drain(child.error, into: &errors, limit: 16384) { child.closeEnds() }
  }
}

/// How the controlling terminal is set, before a program asks for a secret on it.
private struct TerminalModes {
  private var found = termios()

  /// Nil without one.
  init?() {
    let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    guard tcgetattr(terminal, &found) == 0 else { return nil }
  }

  /// Sets it so again, unless it is somebody else's now.
  func restore() {
    let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard terminal >= 0 else { return }
    defer { close(terminal) }
    var modes = found
    if tcgetpgrp(terminal) == getpgrp() { tcsetattr(terminal, TCSANOW, &modes) }
  }
}
