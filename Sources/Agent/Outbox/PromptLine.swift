public import Core
public import Web

/// Says the prompts of an outbox on a line to the profile's agent, one after the other.
public final class PromptLine: ChatWaiter {
  private let line: any ChatLine
  private let maxSilence: Double
  /// When something was heard last, seconds of `Clock.monotonic`.
  private var lastNews = 0.0
  private var trace = PromptTrace()
  private var begin: (() throws(Failure) -> Void)?
  private var lastLoss: String?

  /// - Parameter maxSilence: how long an agent that says nothing is waited for, seconds; one that
  ///   was told something may work at it for ten minutes without a word.
  /// - Throws: `Failure` for an agent that cannot be talked to.
  public init(_ agent: AgentAccess, maxSilence: Double) throws(Failure) {
    self.maxSilence = maxSilence
    line = try agent.profile.kind.backend.chat(with: agent, ChatWishes())
    super.init(agent.client)
  }

  deinit { line.stop() }

  /// Whether a prompt that was perhaps said may be said again, because the agent's server knows
  /// it by its id.
  public var mayRepeat: Bool { line.knowsKeys }

  /// Says a prompt, after those before it were answered.
  ///
  /// - Returns: the prompt, with its answer if it has one.
  /// - Throws: `Failure` when nothing more can be said now, or the answer could not be kept.
  public func say(_ prompt: OutboxItem, of file: OutboxFile) throws(Failure) -> OutboxItem {
    guard case .prompt(let text, let thread) = prompt.action, !prompt.wasSent || mayRepeat else {
      return prompt
    }
    var question = ChatQuestion(
      thread: thread, agent: nil, text: text, key: prompt.id.description)
    if prompt.wasSent { question.firstSaid = prompt.time }
    if !line.hasLink { try probe() }
    (trace, lastLoss, lastNews) = (PromptTrace(), nil, Clock.monotonic)
    begin = { () throws(Failure) in try file.noteSending(prompt) }
    defer { begin = nil }
    let end: ChatEnd
    do throws(LinkEnd) { end = try line.ask(question, self) } catch { end = .lost(patience) }
    switch trace.outcome(end, knowsKeys: line.knowsKeys) {
    case .ack(let ack): return try file.answer(prompt, ack)
    case .waits(let problem): throw Failure(line.place, problem.message, problem.status)
    }
  }

  private func probe() throws(Failure) {
    lastNews = Clock.monotonic
    let answer: Result<[[UInt8]], Failure>
    do throws(LinkEnd) { answer = try line.list(.agents, self) } catch {
      throw Failure(line.place, patience, .temporary)
    }
    // One that says that it has no list is there all the same.
    if case .failure(let failure) = answer, let problem = failure.unsupportedReason {
      throw problem
    }
  }

  private var patience: String { lastLoss ?? "no answer in the time that is given" }

  public override func willWait() throws(LinkEnd) -> Double {
    let limit = lastNews + (trace.hasBegun ? max(maxSilence, Self.work) : maxSilence)
    if Clock.monotonic >= limit { throw .over }
    return limit
  }

  /// How long an agent may be silent that works, seconds.
  private static let work = 600.0

  // MARK: - What the line tells

  public override func link(_ news: LinkNews) {
    trace.receive(news)
    switch news {
    case .lost(let reason, _), .waits(let reason, _): lastLoss = reason
    case .open: lastLoss = nil
    case .note, .fault, .ended: break
    }
  }

  public override func news(_ news: ChatNews) {
    trace.receive(news)
    // What an agent says to others, or that it is busy, is no answer.
    if trace.hasBegun { lastNews = Clock.monotonic }
  }

  public override func sends() -> Failure? {
    // A question that is said again is one.
    guard !trace.hasBegun else { return nil }
    do throws(Failure) { try begin?() } catch {
      let problem = error
      trace.fail(problem)
      return problem
    }
    trace.begin()
    return nil
  }
}
