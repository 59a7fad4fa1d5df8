import Core
import Shell

/// What comes of attaching.
struct AttachOutcome: Equatable {
  var status: Int32 = 0
  /// Ends the process instead.
  var signal: Int32?
  var messages: [String] = []

  /// The user ended it, by an escape.
  static func left(_ host: String, isQuiet: Bool, hasAttached: Bool) -> AttachOutcome {
    AttachOutcome(
      status: (hasAttached ? ExitStatus.success : .temporary).rawValue,
      messages: isQuiet ? [] : ["\(host): disconnected"])
  }

  static func ended(
    _ ending: Ending, of start: SessionStart, on host: String, answer: AttachAnswer?, failures: Int
  ) -> AttachOutcome {
    func refusal(_ failure: HostFailure) -> AttachOutcome {
      AttachOutcome(status: failure.exitStatus, messages: failure.lines(of: host))
    }
    switch (ending, answer) {
    case (.remoteExit, .gone):
      return AttachOutcome(
        status: ExitStatus.negative.rawValue,
        messages: ["\(host): session \(start.name) ended while the link was down"])
    case (.remoteExit, .noTmux): return refusal(.noTmux)
    case (.remoteExit, .noFolder): return refusal(.noFolder(start.directory))
    case (.remoteExit, .noHarness): return refusal(.noHarness(start.firstWord ?? start.harness))
    // The host's script has said why.
    case (.remoteExit(let status), .noWorktree):
      let isFinal = status != ExitStatus.temporary.rawValue
      return refusal(.noWorktree(why: "nothing was started", isFinal: isFinal))
    // tmux itself says why.
    case (.remoteExit(let status), .attaching): return AttachOutcome(status: status)
    case (.remoteExit(let status), nil):
      let outcome = refusal(.noShell(says: ending.reason))
      // A login file's own, as ssh has it; but nothing is to be tried again for it.
      let isOwn = (1..<126).contains(status) && status != ExitStatus.temporary.rawValue
      return AttachOutcome(status: isOwn ? status : outcome.status, messages: outcome.messages)
    case (.failed(.hostKeyChanged(let lines)), _):
      return AttachOutcome(status: ending.exitStatus, messages: lines)
    default:
      let tries =
        failures == 0 ? "" : "gave up after \(failures) more \(failures == 1 ? "try" : "tries"): "
      return AttachOutcome(
        status: ending.exitStatus, messages: ["\(host): \(tries)\(ending.reason)"])
    }
  }
}
