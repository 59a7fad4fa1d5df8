import Core
import Shell

struct AttachPlan {
  var request: LinkRequest
  var line: AttachLine
  /// Failed tries in a row before the link is given up; nil for no end.
  var maxRetries: Int?
  var quiet: Bool

  var host: String { request.destination.name }
}

struct AttachOutcome: Equatable {
  var status: Int32 = 0
  /// Ends the process instead.
  var signal: Int32?
  var messages: [String] = []

  /// The user ended it, by an escape.
  static func left(_ plan: AttachPlan, hasAttached: Bool) -> AttachOutcome {
    AttachOutcome(
      status: (hasAttached ? ExitStatus.success : .temporary).rawValue,
      messages: plan.quiet ? [] : ["\(plan.host): disconnected"])
  }

  static func ended(
    _ ending: Ending, _ plan: AttachPlan, answer: AttachAnswer?, failures: Int
  ) -> AttachOutcome {
    let start = plan.line.start
    func refusal(_ failure: HostFailure) -> AttachOutcome {
      AttachOutcome(status: failure.exitStatus, messages: failure.lines(of: plan.host))
    }
    switch (ending, answer) {
    case (.remoteExit, .gone):
      return AttachOutcome(
        status: ExitStatus.negative.rawValue,
        messages: ["\(plan.host): session \(start.name) ended while the link was down"])
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
        status: ending.exitStatus, messages: ["\(plan.host): \(tries)\(ending.reason)"])
    }
  }
}
