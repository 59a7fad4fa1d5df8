import Core
import Shell

/// What is attached to, and how.
struct AttachPlan {
  var request: LinkRequest
  var line: AttachLine
  /// Failed tries in a row before the link is given up; nil for no end.
  var maxRetries: Int?
  /// Whether nothing is said about the link.
  var quiet: Bool

  /// The host as the user named it.
  var host: String { request.destination.name }
}

/// How it ended.
struct AttachOutcome: Equatable {
  /// The exit status.
  var status: Int32 = 0
  /// Ends the process instead.
  var signal: Int32?
  /// What is said on the user's own screen.
  var messages: [String] = []

  /// The user ended it, by an escape.
  ///
  /// - Parameter hasAttached: whether there was a session to leave.
  static func left(_ plan: AttachPlan, hasAttached: Bool) -> AttachOutcome {
    AttachOutcome(
      status: (hasAttached ? ExitStatus.success : .temporary).rawValue,
      messages: plan.quiet ? [] : ["\(plan.host): disconnected"])
  }

  /// The link ended for good.
  ///
  /// - Parameters:
  ///   - answer: what the host's script said on this link.
  ///   - failures: tries that failed since the link was up.
  static func ended(
    _ ending: Ending, _ plan: AttachPlan, answer: AttachAnswer?, failures: Int
  ) -> AttachOutcome {
    let start = plan.line.start
    func refusal(_ error: TmuxError) -> AttachOutcome {
      AttachOutcome(status: error.exitStatus, messages: ["\(plan.host): \(error.words)"])
    }
    switch (ending, answer) {
    case (.remoteExit, .gone):
      return AttachOutcome(
        status: ExitStatus.negative.rawValue,
        messages: ["\(plan.host): session \(start.name) ended while the link was down"])
    case (.remoteExit, .noTmux): return refusal(.noTmux)
    case (.remoteExit, .noFolder): return refusal(.noFolder(start.directory))
    case (.remoteExit, .noHarness): return refusal(.noHarness(start.firstWord ?? start.harness))
    // tmux itself says why.
    case (.remoteExit(let status), .attaching): return AttachOutcome(status: status)
    case (.hostKeyChanged(let lines), _):
      return AttachOutcome(status: ending.exitStatus, messages: lines)
    default:
      let tries =
        failures == 0 ? "" : "gave up after \(failures) more \(failures == 1 ? "try" : "tries"): "
      return AttachOutcome(
        status: ending.exitStatus, messages: ["\(plan.host): \(tries)\(ending.words)"])
    }
  }
}
