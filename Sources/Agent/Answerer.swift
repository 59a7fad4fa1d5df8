import Core
import Records

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
  /// The wire's word for it.
  let word: String
  /// What the wire counts when it is given.
  let born: Int
  fileprivate let then: (ApprovalAnswer) -> Void
  /// How often it was sent, and whether it was asked what became of it since then.
  fileprivate(set) var tries = 0, hasLooked = false
  /// Not before, seconds of `Clock.monotonic`.
  fileprivate(set) var due = 0.0
  /// Why it is not known what became of it.
  fileprivate(set) var reason: String?
}

/// How an agent is told what a person has decided.
protocol AnswerWire: AnyObject {
  /// Sends an answer; nil while the reply is on its way.
  func send(_ answer: GivenAnswer) -> AnswerFate?
  /// Asks what became of one that may have arrived; nil while the reply is on its way.
  func look(for answer: GivenAnswer) -> AnswerFate?
}

/// The answers that are under way, over any number of connections: one at a time for each
/// approval, of which the first counts. One of which no reply came is sent again only where the
/// approval still waits.
final class Answerer {
  private let origin: RecordOrigin
  private var waiting: [GivenAnswer] = []
  private var busy: [String: GivenAnswer] = [:]

  /// How many are under way beside each other.
  private static let most = 8
  /// How often an answer is sent for which no reply comes, and how long apart, seconds.
  private static let (mostTries, pause) = (3, 1.0)

  init(_ origin: RecordOrigin) { self.origin = origin }

  /// Adds an answer, which `settle` sends.
  func add(
    _ decision: ApprovalDecision, as word: String, born: Int = 0,
    then: @escaping (ApprovalAnswer) -> Void
  ) {
    waiting.append(GivenAnswer(decision: decision, word: word, born: born, then: then))
  }

  /// The answer that is under way to an approval.
  func answer(to id: String) -> GivenAnswer? { busy[id] }

  /// When `settle` is to be called at the latest, seconds of `Clock.monotonic`.
  var next: Double { waiting.reduce(.infinity) { min($0, $1.due > 0 ? $1.due : .infinity) } }

  /// Sends what can be sent.
  func settle(_ wire: any AnswerWire) {
    let answers = waiting
    waiting = []
    for answer in answers {
      let id = answer.decision.id
      if busy.count >= Self.most || busy[id] != nil
        || waiting.contains(where: { $0.decision.id == id })
      {
        waiting.append(answer)
      } else {
        settle(answer, wire.send(answer), wire)
      }
    }
  }

  /// The reply to the answer under way is there.
  func settle(_ id: String, _ fate: AnswerFate, _ wire: any AnswerWire) {
    if let answer = busy.removeValue(forKey: id) { settle(answer, fate, wire) }
  }

  private func settle(_ answer: GivenAnswer, _ fate: AnswerFate?, _ wire: any AnswerWire) {
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
      if let fate = wire.look(for: answer) { return settle(answer, fate, wire) }
      answer.hasLooked = true
      busy[answer.decision.id] = answer
    case .decided(answer.word, let words): finish(answer, .already, words)
    case .decided(let word, let words):
      finish(answer, .late, "it was answered: \(word)" + (words.map { " (\($0))" } ?? ""))
    case .ended(let result, let reason): finish(answer, result, reason)
    }
  }

  /// The connection is gone, and with it the replies.
  func lose() {
    waiting =
      busy.values.map { answer in
        var answer = answer
        answer.hasLooked = false
        return answer
      } + waiting
    busy = [:]
  }

  /// Nothing more comes.
  func end(_ reason: String) {
    let answers = Array(busy.values) + waiting
    (busy, waiting) = ([:], [])
    for answer in answers {
      if answer.tries == 0 {
        finish(answer, .refused, "it was not sent: \(reason)")
      } else {
        finish(answer, .unknown, reason)
      }
    }
  }

  private func finish(_ answer: GivenAnswer, _ result: ApprovalAnswer.Result, _ reason: String?) {
    var record = ApprovalAnswer(
      origin, id: answer.decision.id, decision: answer.word, result: result, time: .now())
    record.reason = reason
    answer.then(record)
  }
}
