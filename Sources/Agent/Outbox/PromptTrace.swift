public import Core
import Records
import Web

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
