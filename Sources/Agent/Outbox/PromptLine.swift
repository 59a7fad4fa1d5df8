public import Core
public import Web

/// Says the prompts of an outbox on a line to the profile's agent, one after the other.
public final class PromptLine: PromptSender {
  private let client: WebClient
  private let line: any ChatLine
  private let maxSilence: Double
  /// When something was heard last, seconds of `Clock.monotonic`.
  private var lastNews = 0.0
  private var trace = PromptTrace()
  private var begin: (() throws(CallFailure) -> Void)?
  private var end: ChatEnd?
  private var lastLoss: String?

  /// - Parameters:
  ///   - agent: who is told.
  ///   - maxSilence: how long an agent that says nothing is waited for, seconds; one that was
  ///     told something may work at it for ten minutes without a word.
  /// - Throws: `SettingsError` for an agent that cannot be talked to.
  public init(_ agent: AgentAccess, maxSilence: Double) throws(SettingsError) {
    client = agent.client
    self.maxSilence = maxSilence
    line = try agent.profile.kind.backend.chat(with: agent, ChatWishes())
    line.listener = self
  }

  deinit { line.stop() }

  public func mayRepeat(_ prompt: OutboxItem) -> Bool { line.knowsKeys }

  public func send(
    _ prompt: OutboxItem, begin: @escaping () throws(CallFailure) -> Void
  ) throws(CallFailure) -> OutboxAck? {
    guard case .prompt(let text, let thread) = prompt.action else { return nil }
    if !prompt.sent.isEmpty, !line.knowsKeys { return nil }
    var question = ChatQuestion(
      thread: thread, agent: nil, text: text, key: prompt.id.description)
    if !prompt.sent.isEmpty { question.firstSaid = prompt.time }
    if !line.hasLink { try probe() }
    (trace, end, lastLoss) = (PromptTrace(), nil, nil)
    self.begin = begin
    defer { self.begin = nil }
    line.ask(question)
    try drive { self.end != nil }
    let end = end ?? .lost(patience)
    switch trace.outcome(end, knowsKeys: line.knowsKeys) {
    case .ack(let ack): return ack
    case .waits(let problem):
      throw CallFailure(line.place, problem.line, problem.status)
    }
  }

  /// Asks a server for something that says nothing.
  private func probe() throws(CallFailure) {
    var answer: Result<[[UInt8]], CallFailure>?
    line.list(.agents) { answer = $0 }
    try drive { answer != nil }
    switch answer {
    // One that says that it has no list is there all the same.
    case .failure(let failure):
      if let problem = failure.unsupportedReason { throw CallFailure(problem) }
    case nil: throw CallFailure(line.place, patience, .temporary)
    default: return
    }
  }

  private var patience: String { lastLoss ?? "no answer in the time that is given" }

  /// Until something is so, or the time is over.
  private func drive(until isDone: () -> Bool) throws(CallFailure) {
    lastNews = Clock.monotonic
    while !isDone() {
      client.perform()
      let next = line.tick(now: Clock.monotonic)
      let now = Clock.monotonic
      let limit = lastNews + (trace.hasBegun ? max(maxSilence, Self.work) : maxSilence)
      if isDone() || now >= limit { return }
      client.wait(seconds: max(0, min(next, limit) - now))
    }
  }

  /// How long an agent may be silent that works, seconds.
  private static let work = 600.0
}

extension PromptLine: ChatListener {
  public func chatLink(_ news: LinkNews) {
    trace.take(news)
    switch news {
    case .lost(let reason, _), .waits(let reason, _): lastLoss = reason
    case .open: lastLoss = nil
    case .fault, .ended: break
    }
  }

  public func chatNews(_ news: ChatNews) {
    trace.take(news)
    // What an agent says to others, or that it is busy, is no answer.
    if trace.hasBegun { lastNews = Clock.monotonic }
  }

  public func chatEnded(_ end: ChatEnd) { self.end = end }

  public func chatSends() -> AnswerProblem? {
    // A question that is said again is one.
    guard !trace.hasBegun else { return nil }
    do throws(CallFailure) { try begin?() } catch {
      let problem = AnswerProblem(error.message, error.status)
      trace.fail(problem)
      return problem
    }
    trace.begin()
    return nil
  }
}
