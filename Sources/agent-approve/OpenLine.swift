import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// The line to the agent while the command runs: one loop for the network, the signals,
/// the end of the time and a file that is read meanwhile.
class OpenLine: ApprovalWaiter {
  let line: any ApprovalLine
  let options: ApproveOptions
  let output: RowOutput
  let diagnostics: Diagnostics
  let profile: String?
  private(set) var isListed = false
  private(set) var end: ExitStatus?
  /// When the time is up, seconds of `Clock.monotonic`.
  var deadline: Double

  private let speaks: Bool
  private var file: Int32?
  private var isDone: () -> Bool = { true }
  private var isReady = false
  private var writing: WriteFailure?
  private var isOpen = false
  private var hadFault = false

  init(_ options: ApproveOptions, _ diagnostics: Diagnostics) throws(Failure) {
    let client: WebClient
    (line, profile, client) = try Self.line(options, diagnostics)
    EndSignals.watch()
    self.options = options
    output = RowOutput(
      form: options.form, look: options.look, isQuiet: options.isQuiet, isCut: false)
    self.diagnostics = diagnostics
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    deadline = options.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    super.init(client)
  }

  private static func line(
    _ options: ApproveOptions, _ diagnostics: Diagnostics
  ) throws(Failure) -> (any ApprovalLine, profile: String?, WebClient) {
    let wishes = options.wishes
    let names = options.profiles
    let client = { () throws(Failure) in try options.access.client(diagnostics.program) }
    let settings = try Settings()
    if names.count > 1 {
      for name in names { try settings.profile(name).require(.approvals, for: diagnostics.program) }
      settings.configuration.report(to: diagnostics)
      let agents = names.map { ProgramApprovals.Agent.profile($0, words: options.words(for: $0)) }
      return (ProgramApprovals(agents, wishes), nil, try client())
    }
    if let profile = try? settings.profile(
      settings.profileOrHere(options.access.profile, diagnostics)), let place = profile.host
    {
      try profile.require(.approvals, for: diagnostics.program)
      let host = HostPlace(place)
      let line = try profile.kind.backend.approvals(of: host, profile: profile.name, wishes)
      return (line, profile.name, try client())
    }
    let agent = try AgentAccess(
      options.access, for: .approvals, maxTime: options.reconnect.maxTime,
      diagnostics: diagnostics)
    let line = try agent.profile.kind.backend.approvals(
      of: agent, wishes, policy: options.reconnect.policy(usualSilence: nil))
    return (line, agent.profile.name, agent.client)
  }

  /// Goes on until something is there, or it is over.
  func run(reading file: Int32? = nil, until isDone: () -> Bool) throws(WriteFailure) {
    (self.file, isReady) = (file, false)
    withoutActuallyEscaping(isDone) { isDone in
      self.isDone = isDone
      line.follow(self)
      self.isDone = { true }
    }
    if let writing { throw writing }
  }

  override var isOver: Bool { end != nil || writing != nil || isReady }

  override var files: [pollfd] { Self.signalsAndOutput + Self.reading(file) }

  override func willWait() throws(LinkEnd) -> Double {
    do throws(WriteFailure) { try output.flush() } catch { writing = error }
    if isOver || isDone() {
      isReady = true
      throw .over
    }
    if Clock.monotonic >= deadline {
      timeIsUp()
      throw .over
    }
    return deadline
  }

  override func hasWaited() throws(LinkEnd) {
    if let signal = EndSignals.next() {
      // What waits, if the reader takes it at once.
      if OutputEnd.isWritable { try? output.flush() }
      line.stop()
      Process.die(by: signal)
    }
    if OutputEnd.isClosed { writing = WriteFailure(code: EPIPE) }
    // What the agent has said by now counts first: it is taken before the next wait.
    if let file, isReadable(file) { isReady = true }
    if writing != nil { throw .over }
  }

  func leave(_ status: ExitStatus) throws(WriteFailure) -> ExitStatus {
    line.stop()
    if let writing { throw writing }
    try output.flush()
    let worst = status.worse(end ?? .success)
    return hadFault ? worst.worse(.failure) : worst
  }

  private func timeIsUp() {
    // Time that ends while the link is up was used well by who only follows.
    let isFine = isOpen && (options.task == .watch || options.task == .ask)
    if !isFine {
      diagnostics.say(isOpen ? "time is up: no answer came" : "time is up and the link is not open")
    }
    end = isFine ? .success : .temporary
  }

  // MARK: - What the line tells

  override func link(_ news: LinkNews) {
    switch news {
    case .open(let place, let isFirst, let down):
      isOpen = true
      if let down {
        note("link is \(isFirst ? "open" : "back") after \(Latency.short(down)) s")
      } else {
        diagnostics.note("link is open: \(place)")
      }
    case .lost(let reason, let wait):
      isOpen = false
      // One question is worth no wait before it could be asked, unless that is wanted.
      if isHasty, !isListed {
        end = .temporary
        return say(reason)
      }
      note("link is down: \(reason); next try in \(Latency.short(wait)) s")
    case .waits(let words, let wait):
      isOpen = false
      // In a pipe as well: nobody else will see that a person is waited for.
      if words != said {
        said = words
        say("\(words); waiting until somebody has done that")
      }
      diagnostics.note("next try in \(Latency.short(wait)) s")
    case .note(let words): say(words)
    case .fault(let reason):
      hadFault = true
      say(reason)
    case .ended(let problem):
      isOpen = false
      end = problem.status
      say(problem.message)
    }
  }

  /// Whom it waits for.
  private var said = ""

  private var isHasty: Bool {
    switch options.task {
    case .list, .decide, .edit: !options.waits && options.reconnect.maxRetries == nil
    case .watch, .ask, .read, .readIDs: false
    }
  }

  private func note(_ words: String) { if speaks { say(words) } }

  private func say(_ words: String) {
    willSay()
    try? output.flush()
    diagnostics.say(words)
  }

  /// Something is said about the link.
  func willSay() {}

  override func listed() {
    isListed = true
    if options.isPart { write { () throws(WriteFailure) in try output.opened() } }
  }

  /// Writes; where that fails, it is over.
  func write(_ body: () throws(WriteFailure) -> Void) {
    do throws(WriteFailure) { try body() } catch { writing = writing ?? error }
  }

  override func failed(_ failure: Failure) {
    end = failure.status
    say(failure.message)
  }
}

extension ApprovalAnswer.Result {
  /// How the command ends by it.
  var status: ExitStatus {
    switch self {
    case .accepted, .already: .success
    case .late, .notFound, .refused: .negative
    case .unknown: .temporary
    }
  }
}
