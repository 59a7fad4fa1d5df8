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

/// Decides what follows the end of a link: another try after a while, or the end.
struct Reconnect {
  /// What to do.
  enum Step: Equatable {
    /// Try again at a time.
    case wait(until: Double)
    /// Leave for good.
    case end
  }

  /// Whether the session has been attached to at least once.
  private(set) var hasAttached = false
  /// Failed tries since the link was up last, the one that goes on not counted.
  private(set) var failures = 0
  private let maxRetries: Int?
  private var backoff = Backoff(base: 1, factor: 2, cap: 15, jitter: 0)

  /// - Parameter maxRetries: failed tries in a row before it is given up; nil for no end.
  init(maxRetries: Int?) {
    self.maxRetries = maxRetries
  }

  /// The session is attached to.
  mutating func attached() {
    hasAttached = true
    failures = 0
    backoff.reset()
  }

  /// The link ended, or a try failed.
  ///
  /// - Parameter now: seconds of a clock that never steps.
  mutating func ended(_ ending: Ending, now: Double) -> Step {
    guard case .failed(let failure) = ending,
      failure.isWorthRetry(afterSuccess: hasAttached)
    else { return .end }
    if let maxRetries, failures >= maxRetries { return .end }
    failures += 1
    return .wait(until: now + backoff.next(random: 0))
  }
}
