import Agent
import Core
import Records
import Web

/// Whether only those can answer who should: asked of the server before anybody is asked anything.
final class AnswerCheck {
  private struct Step {
    let topic: NtfyTopic
    /// The one that it is asked with.
    let token: NtfyToken?
    let request: Request
    let isRight: (Int, JSONValue?) -> Bool
    let fault: String
  }

  private let client: WebClient
  private let outcome: Outcome
  private var steps: [Step] = []
  private var fetch: Fetch?
  private var retryAt = 0.0
  private var backoff = Backoff(base: 1, cap: 30)
  private var hasNoted = false

  /// - Parameters:
  ///   - notices: where the questions go.
  ///   - answers: with the token that it is read with.
  ///   - buttons: the topics as the buttons' token sees them, the answers first.
  init(
    notices: [NtfyTopic], answers: NtfyTopic, buttons: [NtfyTopic], _ client: WebClient,
    _ outcome: Outcome
  ) throws(Failure) {
    (self.client, self.outcome) = (client, outcome)
    for topic in notices {
      try add(
        topic, withToken: false, mayRead: false,
        "anybody may read it, and so press the buttons: deny it to everyone")
    }
    try add(
      answers, withToken: true, mayRead: true,
      "it may not be read\(answers.token == nil ? "" : " with the token"): make its user read-only")
    let isAnonymous = buttons[0].token == nil
    let whose = isAnonymous ? "anybody" : "the buttons' token"
    for topic in isAnonymous ? [buttons[0]] : buttons {
      try add(
        topic, withToken: true, mayRead: false,
        "\(whose) may read it: let that write \(answers.topic) and nothing else")
    }
    guard !isAnonymous else { return }
    steps.append(
      Step(
        topic: buttons[0], token: buttons[0].token, request: try buttons[0].askingAccount(),
        isRight: { $0 == 200 && $1?["role"]?.string == "user" },
        fault: "the buttons' token is not one of a plain user: anybody who gets a notice has it"))
  }

  private func add(
    _ topic: NtfyTopic, withToken: Bool, mayRead: Bool, _ fault: String
  ) throws(Failure) {
    steps.append(
      Step(
        topic: topic, token: withToken ? topic.token : nil,
        request: try topic.asking(withToken: withToken),
        isRight: { status, _ in (status == 403) != mayRead }, fault: fault))
  }

  var isDone: Bool { steps.isEmpty }

  /// Goes on. Returns when to be called again at the latest.
  ///
  /// - Throws: what is wrong with the rights.
  func work(now: Double) throws(Failure) -> Double {
    guard let step = steps.first else { return .infinity }
    if let fetch {
      let due = fetch.due(now)
      guard let end = fetch.end else { return due }
      self.fetch = nil
      step.token?.isAsked = false
      guard let (status, answer) = try receive(NtfyAnswer(fetch, end), of: step.topic, now) else {
        return retryAt
      }
      step.token?.isTaken = true
      guard step.isRight(status, answer) else {
        throw Failure(step.topic.display, step.fault, .denied)
      }
      steps.removeFirst()
      return now
    }
    if now < retryAt { return retryAt }
    if let token = step.token {
      if token.isRefused { throw step.topic.refusal("not tried with a token") }
      if !token.isTaken, token.isAsked { return now + 0.02 }
      token.isAsked = true
    }
    fetch = Fetch(client, step.request, now: now, silence: 20, limit: 1 << 20)
    return now
  }

  /// Status and answer; nil where it is to be asked again.
  private func receive(
    _ answer: NtfyAnswer, of topic: NtfyTopic, _ now: Double
  ) throws(Failure) -> (Int, JSONValue?)? {
    switch answer {
    case .done(let answer?) where answer.isObject: return (200, answer)
    case .done: throw Failure(topic.display, "not the answer of an ntfy server")
    case .forbidden(let error) where error.code == 40301: return (403, nil)
    case .forbidden(let error): throw Failure(topic.display, error.line)
    case .refused(let error): throw topic.refusal(error.line)
    case .failed(_, let failure): throw Failure(topic.display, failure.reason, failure.status)
    case .later(let error):
      if !hasNoted { outcome.note(topic.display, "\(error.line): tried again") }
      hasNoted = true
      retryAt = now + max(backoff.next(random: Double.random(in: 0..<1)), error.wait ?? 0)
      return nil
    }
  }
}
