public import Core
import Records
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

/// What is known of a prompt of the outbox while it is said, and what that means in the end
/// (Agent/Outbox/CONTRACT.md 5). No network, no clock.
public struct PromptTrace {
  /// What becomes of it.
  public enum Outcome {
    /// It is answered.
    case ack(OutboxAck)
    /// It waits as it is; why.
    case waits(Failure)
  }

  /// Whether the words may have arrived.
  public private(set) var hasBegun = false
  private var hasArrived = false
  private var isOpen = false
  private var obstacle: Failure?
  private var texts = FinalTexts()

  /// Of a prompt that nobody has begun with.
  public init() {}

  /// The words go out.
  public mutating func begin() { hasBegun = true }

  /// They could not, for something here.
  public mutating func fail(_ problem: Failure) { obstacle = problem }

  /// Takes how the link is.
  public mutating func receive(_ news: LinkNews) {
    switch news {
    case .open: isOpen = true
    case .ended(let problem): obstacle = problem
    case .lost, .waits, .note, .fault: break
    }
  }

  /// Takes what comes of it.
  public mutating func receive(_ news: ChatNews) {
    texts.receive(news)
    switch news {
    case .message(let message):
      if message.role == .assistant || message.state == .final { hasArrived = true }
    case .toolCall, .approval: hasArrived = true
    case .turn, .thread, .ambient: break
    }
  }

  /// What the end means.
  ///
  /// - Parameter knowsKeys: whether it may be asked for again.
  public func outcome(_ end: ChatEnd, knowsKeys: Bool) -> Outcome {
    switch end {
    case .answered:
      var ack = OutboxAck(.done)
      ack.answer = texts.text
      return .ack(ack)
    case .failed(let reason): return said("the agent failed: \(reason)")
    case .paused(let reason): return said("the agent waits for a person: \(reason)")
    case .aborted(let reason):
      let words = "aborted" + (reason.map { ": \($0)" } ?? "")
      return hasBegun ? said(words) : .waits(Failure(words, .temporary))
    case .lost(let reason):
      if hasBegun, hasArrived, !knowsKeys { return said("no answer was seen: \(reason)") }
      return .waits(Failure(reason, .temporary))
    case .refused(let problem):
      if let obstacle { return .waits(obstacle) }
      // Whether the agent got it as well, nobody knows.
      if problem.isStray { return .waits(Failure(problem.message, .temporary)) }
      let isForGood = problem.status != .temporary && problem.status != .denied
      guard isForGood, hasBegun || isOpen else { return .waits(problem) }
      return .ack(OutboxAck(.dropped, reason: problem.message))
    }
  }

  private func said(_ reason: String) -> Outcome { .ack(OutboxAck(.done, reason: reason)) }
}
