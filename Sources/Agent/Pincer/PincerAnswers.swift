import Core
import Records
import Turns
import Web

/// The answers to actions that are under way (Agent/Pincer/CONTRACT.md 3.3). An action is
/// decided once: an answer of which no reply came is given again only if the action still
/// waits.
final class PincerAnswers {
  private struct Answer {
    let decision: ApprovalDecision
    let word: String
    let then: (ApprovalAnswer) -> Void
    /// How often it was sent.
    var tries = 0
    /// Not before, seconds of `Clock.monotonic`.
    var from = 0.0
    /// The server said that the action does not wait; else no reply came.
    var isRefused = false
  }

  private let calls: PincerCalls
  private let fates: PincerFates
  private let origin: RecordOrigin
  /// Told that the server lets nobody in.
  private let deny: (AnswerProblem) -> Void
  private var waiting: [Answer] = []
  /// The answers that are under way, and the actions that they are for: one at a time.
  private var busy: [String: Answer] = [:]

  /// How many are sent beside each other.
  private static let most = 8
  /// How often an answer is sent for which no reply comes, and how long apart, seconds.
  private static let (mostTries, pause) = (3, 1.0)

  init(
    _ calls: PincerCalls, _ fates: PincerFates, _ origin: RecordOrigin,
    deny: @escaping (AnswerProblem) -> Void
  ) {
    self.calls = calls
    self.fates = fates
    self.origin = origin
    self.deny = deny
  }

  /// Takes an answer; `settle` sends it.
  func add(_ decision: ApprovalDecision, then: @escaping (ApprovalAnswer) -> Void) {
    waiting.append(Answer(decision: decision, word: Self.word(decision.decision), then: then))
  }

  /// The server's word for a decision.
  static func word(_ decision: String) -> String {
    switch decision {
    case "approved", "yes": "approve"
    case "deny", "denied", "rejected", "no": "reject"
    default: decision
    }
  }

  /// When `settle` is to be called at the latest, seconds of `Clock.monotonic`.
  var next: Double { waiting.reduce(.infinity) { min($0, $1.from > 0 ? $1.from : .infinity) } }

  /// Sends what can be sent.
  func settle(now: Double) {
    var index = 0
    var passed: Set<String> = []
    while index < waiting.count, busy.count < Self.most {
      let answer = waiting[index]
      let id = answer.decision.id
      // Of several answers to one action the first counts.
      if answer.from > now || busy[id] != nil || passed.contains(id) {
        passed.insert(id)
        index += 1
        continue
      }
      waiting.remove(at: index)
      send(answer)
    }
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

  // MARK: - One answer

  private func send(_ answer: Answer) {
    guard PincerApproval.decisions.contains(answer.word) else {
      let words = PincerApproval.decisions.joined(separator: ", ")
      return finish(answer, .refused, "the server takes: \(words)")
    }
    var answer = answer
    answer.tries += 1
    let id = answer.decision.id
    busy[id] = answer
    let isYes = answer.word == "approve"
    let question = RecordText().string("actionId", id)
      .string("reason", isYes ? nil : answer.decision.reason)
    calls.call(isYes ? .approveAction : .rejectAction, question) { [unowned self] outcome in
      // All may have ended meanwhile.
      guard busy.removeValue(forKey: id) != nil else { return }
      switch outcome {
      case .success(let reply):
        if let other = Self.contradiction(reply.value, id, isYes: isYes) {
          if other.isOther { return finish(answer, .unknown, other.words) }
          // It is looked for, and not sent again: a person is to see what the server says.
          var last = answer
          last.tries = Self.mostTries
          return look(last, other.words)
        }
        let isUnheard = isYes && answer.decision.reason?.isEmpty == false
        finish(answer, .accepted, isUnheard ? "an approval takes no reason: not sent" : nil)
      case .failure(.network(let reason)): look(answer, reason)
      case .failure(.refused(let problem, let error)): refused(answer, problem, error)
      }
    }
  }

  /// What a reply says against the answer: that it is of another action, or that the action
  /// is in another state; nil when nothing.
  private static func contradiction(
    _ reply: JSONValue, _ id: String, isYes: Bool
  ) -> (words: String, isOther: Bool)? {
    let named = reply.pincerText("actionId")
    if !named.isEmpty, named != id { return ("the reply is about another action: \(named)", true) }
    if reply["ok"]?.bool == false { return ("the server says that it is not done", false) }
    let states = isYes ? ["APPROVED", "EXECUTED"] : ["REJECTED"]
    guard let status = reply.pincerEnum("status", PincerWords.actionStates) else { return nil }
    let isFitting = states.contains { status == $0 || status.hasSuffix("_\($0)") }
    return isFitting ? nil : ("the server says that it is \(status.lowercased())", false)
  }

  private func refused(_ answer: Answer, _ problem: AnswerProblem, _ error: ConnectError?) {
    switch error?.code {
    case .notFound: finish(answer, .notFound, nil)
    case .failedPrecondition where error?.message.holds("expired") == true:
      finish(answer, .late, "it is expired")
    case .failedPrecondition:
      var answer = answer
      answer.isRefused = true
      look(answer, problem.line)
    default:
      if problem.status == .temporary { return look(answer, problem.line) }
      finish(answer, .refused, problem.line)
      if problem.status == .denied { deny(problem) }
    }
  }

  /// Looks what became of an action, where the reply does not say.
  private func look(_ answer: Answer, _ reason: String) {
    let id = answer.decision.id
    busy[id] = answer
    fates.look(for: [id]) { [unowned self] result in
      guard busy.removeValue(forKey: id) != nil else { return }
      switch result {
      case .failure(let failure): again(answer, failure.problem.line)
      case .success(let found): told(answer, found[id], reason)
      }
    }
  }

  private func told(_ answer: Answer, _ found: ApprovalRecord?, _ reason: String) {
    switch found?.state {
    case .pending: again(answer, reason)
    case .expired: finish(answer, .late, "it is expired")
    case .approved, .executed, .rejected:
      let decision = found?.decision ?? ""
      let words = found?.reason
      if decision == answer.word { return finish(answer, .already, words) }
      finish(answer, .late, "it was answered: \(decision)" + (words.map { " (\($0))" } ?? ""))
    case .cancelled, nil:
      if answer.isRefused { return finish(answer, .late, "it does not wait any more") }
      finish(answer, .unknown, "no reply came, and it is not listed: \(reason)")
    }
  }

  /// Sends it once more, if that is worth it.
  private func again(_ answer: Answer, _ reason: String) {
    guard answer.tries < Self.mostTries else { return finish(answer, .unknown, reason) }
    var answer = answer
    answer.from = Clock.monotonic + Self.pause
    answer.isRefused = false
    // In front: others for the same action come behind it.
    waiting.insert(answer, at: 0)
  }

  private func finish(_ answer: Answer, _ result: ApprovalAnswer.Result, _ reason: String?) {
    var record = ApprovalAnswer(
      origin, id: answer.decision.id, decision: answer.word, result: result, time: .now())
    record.reason = reason
    answer.then(record)
  }
}
