public import Core
public import Records
import Web

/// What a wire says of an answer.
enum AnswerFate {
  /// It has ended so; why.
  case ended(ApprovalAnswer.Result, String?)
  /// The approval was decided before: the wire's word for that, and why.
  case decided(String, String?)
  /// The approval waits still.
  case waits
  /// The answer may have arrived or not, and why that is not known. It is not sent again where that
  /// is of no use.
  case unclear(String, mayRepeat: Bool = true)
  /// Not before this time, seconds of `Clock.monotonic`, or before something is heard of it.
  case later(Double)
}

/// A person's answer on its way.
struct GivenAnswer {
  let decision: ApprovalDecision
  /// The wire's word for it; it may be another once more is known of the approval.
  var word: String
  /// What the wire counts when it is given.
  let born: Int
  fileprivate let number: Int
  /// How often it was sent, and whether it was asked what became of it since then.
  fileprivate(set) var tries = 0, hasLooked = false
  /// Not before, seconds of `Clock.monotonic`.
  fileprivate(set) var due = 0.0
  /// Why it is not known what became of it.
  fileprivate(set) var reason: String?
}

/// A line to an agent that is told what a person has decided, over any number of connections: one
/// answer at a time for each approval, of which the first counts. One of which no reply came is
/// sent again only where the approval still waits.
class AnsweringLink: ServedLink<ApprovalWaiter>, ApprovalLine {
  final let origin: RecordOrigin
  private var waiting: [GivenAnswer] = []
  private var busy: [String: GivenAnswer] = [:]
  private var finished: [(Int, ApprovalAnswer)] = []

  /// How many are under way beside each other.
  private static let most = 8
  /// How often an answer is sent for which no reply comes, and how long apart, seconds.
  private static let (mostTries, pause) = (3, 1.0)

  init(
    _ client: WebClient, _ place: String, _ origin: RecordOrigin, _ policy: StreamPolicy,
    judge: @escaping (ResponseHead, [UInt8]) -> Failure?
  ) {
    self.origin = origin
    super.init(client, place, policy, judge: judge)
  }

  // MARK: - What a wire does

  /// The wire's word for a decision.
  func word(_ decision: ApprovalDecision) -> String { decision.decision }
  /// What a wire counts when an answer is given.
  var count: Int { 0 }
  /// Whether answers can be sent now.
  var isReady: Bool { false }
  /// Sends an answer; nil while the reply is on its way.
  func send(_ answer: GivenAnswer) -> AnswerFate? { nil }
  /// Asks what became of one that may have arrived; nil while the reply is on its way.
  func look(for answer: GivenAnswer) -> AnswerFate? { nil }
  func follow(_ waiter: ApprovalWaiter) {}
  func stop() {}

  // MARK: - Answers

  final func answer(_ decision: ApprovalDecision, number: Int) {
    let answer = GivenAnswer(
      decision: decision, word: word(decision), born: count, number: number)
    // What was asked for must not be allowed in its stead.
    if decision.input != nil {
      finish(answer, .refused, "it takes no other input")
    } else {
      waiting.append(answer)
    }
    settle()
  }

  /// The answer that is under way to an approval.
  final func answer(to id: String) -> GivenAnswer? { busy[id] }

  /// Does what is due, and tells what came of answers.
  ///
  /// - Returns: when to be called again at the latest, seconds of `Clock.monotonic`.
  override func look() throws(LinkEnd) -> Double {
    settle()
    while !finished.isEmpty {
      let (number, answer) = finished.removeFirst()
      waiter?.answered(answer, number: number)
    }
    return waiting.reduce(.infinity) { min($0, $1.due > 0 ? $1.due : .infinity) }
  }

  /// Sends what can be sent.
  final func settle() {
    if !isReady { return }
    let answers = waiting
    waiting = []
    for var answer in answers {
      answer.word = word(answer.decision)
      let id = answer.decision.id
      if busy.count >= Self.most || busy[id] != nil
        || waiting.contains(where: { $0.decision.id == id })
      {
        waiting.append(answer)
      } else {
        settle(answer, send(answer))
      }
    }
  }

  /// The reply to the answer under way is there.
  final func settle(_ id: String, _ fate: AnswerFate) {
    if let answer = busy.removeValue(forKey: id) { settle(answer, fate) }
  }

  private func settle(_ answer: GivenAnswer, _ fate: AnswerFate?) {
    var answer = answer
    switch fate {
    case nil:
      answer.tries += 1
      busy[answer.decision.id] = answer
    case .later(let due):
      answer.due = due
      waiting.append(answer)
    case .waits where answer.tries < Self.mostTries:
      (answer.due, answer.hasLooked) = (Clock.monotonic + Self.pause, false)
      // In front: others to the same approval come behind it.
      waiting.insert(answer, at: 0)
    case .waits: finish(answer, .unknown, answer.reason)
    case .unclear(let reason, let mayRepeat):
      answer.reason = reason
      if !mayRepeat { answer.tries = Self.mostTries }
      if let fate = look(for: answer) { return settle(answer, fate) }
      answer.hasLooked = true
      busy[answer.decision.id] = answer
    case .decided(answer.word, let words): finish(answer, .already, words)
    case .decided(let word, let words):
      finish(answer, .late, "it was answered: \(word)" + (words.map { " (\($0))" } ?? ""))
    case .ended(let result, let reason): finish(answer, result, reason)
    }
  }

  /// The connection is gone, and with it the replies.
  final func loseReplies() {
    for var answer in busy.values {
      answer.hasLooked = false
      waiting.insert(answer, at: 0)
    }
    busy = [:]
  }

  override func ended(_ end: StreamEnd, at place: String) {
    let reason = end.problem.message
    let answers = Array(busy.values) + waiting
    (busy, waiting) = ([:], [])
    for answer in answers {
      if answer.tries == 0 {
        finish(answer, .refused, "it was not sent: \(reason)")
      } else {
        finish(answer, .unknown, reason)
      }
    }
    _ = try? look()
    super.ended(end, at: place)
  }

  private func finish(_ answer: GivenAnswer, _ result: ApprovalAnswer.Result, _ reason: String?) {
    var record = ApprovalAnswer(
      origin, id: answer.decision.id, decision: answer.word, result: result, time: .now())
    record.reason = reason
    finished.append((answer.number, record))
  }
}

/// Waits while approvals are followed, and is told what waits for an answer.
open class ApprovalWaiter: LinkWaiter {
  /// Something waits, or does not wait any more.
  open func changed(_ approval: ApprovalRecord) {}
  /// All that waited when the line was opened, for the first time or again, was told.
  open func listed() {}
  /// What came of the answer of this number.
  open func answered(_ answer: ApprovalAnswer, number: Int) {}
  /// They cannot be listed.
  open func failed(_ failure: Failure) {}
}

/// A line to an agent whose questions a person answers. It stays open while it is followed: a
/// backend may give up at once what nobody listens to.
public protocol ApprovalLine: AnyObject {
  /// Whose the records are.
  var origin: RecordOrigin { get }
  /// Answers, once the line is open; the waiter is told what came of it.
  ///
  /// - Parameters:
  ///   - decision: what to answer; `approve` and `deny` are what the backend calls so.
  ///   - number: by which the waiter knows it.
  func answer(_ decision: ApprovalDecision, number: Int)
  /// Follows what waits until the waiter has enough. It may be called again.
  func follow(_ waiter: ApprovalWaiter)
  /// Ends the line without a word.
  func stop()
}
