import CLibc
import Core

/// An ssh that makes a connection and then, in the background, takes calls over it. It
/// outlives us for a minute, so that the next command finds it.
final class SSHMaster {
  /// What it says.
  let pipe: SSHLogPipe
  private let child: ChildProcess

  /// The time it has to put the terminal in order, seconds.
  private static let leaving = 0.2
  /// The time a person has for a passphrase, seconds: as long as sshd(8) waits.
  private static let thinking = 120.0

  /// Makes one, and waits until it takes calls.
  init(_ plan: SSHPlan, _ place: ControlPlace, _ wait: HostWait) throws(HostFailure) {
    // With a person, ssh asks on the controlling terminal.
    let hasPerson = Self.hasPerson
    let terminal = hasPerson ? TerminalModes() : nil
    place.sweep()
    // Known by its lasting name only when it is whole.
    let socket = place.folder + "/" + place.ownName("m")
    pipe = try HostFailure.catching(
      try SSHLogPipe(in: place.folder, name: place.ownName("log")), HostFailure.local)
    child = try HostFailure.catching(
      try ChildProcess(
        plan.command.master(socket: socket, log: pipe.path, isAlone: !hasPerson), output: .nothing,
        error: hasPerson ? .ours : .pipe), HostFailure.local)
    // In the background it may hold this open for long.
    defer { child.closeEnds() }
    do throws(HostFailure) {
      try begin(plan, hasPerson, wait) { rename(socket, place.socket) == 0 }
    } catch {
      // A question that nobody has answered leaves the terminal as it was.
      child.end(within: Self.leaving)
      terminal?.restore()
      unlink(socket)
      throw error
    }
  }

  private func begin(
    _ plan: SSHPlan, _ hasPerson: Bool, _ wait: HostWait, settle: () -> Bool
  ) throws(HostFailure) {
    var errors: [UInt8] = []
    var progress = Clock.monotonic
    while true {
      // Its last words may come behind its end.
      let hasEnded = child.reap()
      if pipe.pump() { progress = Clock.monotonic }
      try plan.tellPin(pipe.log)
      if PipeEnd.drain(child.error, into: &errors, limit: 16384) { child.closeEnds() }
      if pipe.log.cannotPin {
        throw .hostKeyUnknown(why: "the host's key is new and cannot be pinned")
      }
      if pipe.log.takesCalls || hasEnded && child.exitStatus == 0, settle() { return }
      if hasEnded {
        let lines = String(decoding: errors, as: UTF8.self).split { $0.isNewline }
        switch plan.judge(pipe.log, child, lines.map(String.init)) {
        case .failed(let failure): throw failure
        case let ending: throw .connectFailed(why: ending.reason)
        }
      }
      let patience = plan.command.request.connectTimeout
      let limit =
        hasPerson && pipe.log.hasAuthenticationBegun ? max(patience, Self.thinking) : patience
      if Clock.monotonic >= progress + limit {
        let why = "no answer for \(Int(limit.rounded())) s"
        throw pipe.log.isSignedIn ? .linkLost(why: why) : .connectFailed(why: why)
      }
      var set = PollSet(child.error)
      pipe.wants(&set)
      // Its socket is there in a moment. Its end alone makes no descriptor readable: it is looked
      // for, at once behind the end of what it says.
      let look = pipe.log.takesCalls ? 0.002 : child.error < 0 && !hasPerson ? 0.005 : 0.25
      try wait(&set, min(progress + limit, Clock.monotonic + look))
    }
  }

  /// Whether somebody can be asked: there is a controlling terminal, and it is ours now.
  private static var hasPerson: Bool {
    let descriptor = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return tcgetpgrp(descriptor) == getpgrp()
  }
}

/// How the controlling terminal is set, before a program asks for a secret on it.
private struct TerminalModes {
  private var found = termios()

  init?() {
    let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    guard tcgetattr(terminal, &found) == 0 else { return nil }
  }

  func restore() {
    let terminal = clibc_open("/dev/tty", O_RDWR | O_NOCTTY)
    guard terminal >= 0 else { return }
    defer { close(terminal) }
    var modes = found
    if tcgetpgrp(terminal) == getpgrp() { tcsetattr(terminal, TCSANOW, &modes) }
  }
}
