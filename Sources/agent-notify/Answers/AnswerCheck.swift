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

  /// Answers to requests above its limit, and of who had too many wrong tokens, seconds.
  private static let (pace, lockout) = (5.0, 60.0)

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
      guard let (head, answer) = try receive(end, of: step.topic, fetch.isMistrusted, now) else {
        return retryAt
      }
      step.token?.isTaken = true
      guard step.isRight(head.status, answer) else {
        throw Failure(step.topic.display, step.fault, .denied)
      }
      steps.removeFirst()
      return now
    }
    if now < retryAt { return retryAt }
    if let token = step.token {
      if token.isRefused { throw Self.refusal(step.topic, "not tried with a token") }
      if !token.isTaken, token.isAsked { return now + 0.02 }
      token.isAsked = true
    }
    fetch = Fetch(client, step.request, now: now, silence: 20, limit: 1 << 20)
    return now
  }

  /// The answer; nil where it is to be asked again.
  private func receive(
    _ end: FetchEnd, of topic: NtfyTopic, _ isMistrusted: Bool, _ now: Double
  ) throws(Failure) -> (ResponseHead, JSONValue?)? {
    switch end {
    case .response(let head, let body):
      let answer = try? body.withUnsafeBytes { try JSONValue.parse($0) }
      let error = NtfyError(head, body)
      switch head.status {
      case 200 where answer?.isObject == true, 403 where error.code == 40301:
        return (head, answer)
      case 401: throw Self.refusal(topic, error.line)
      case _ where head.isTransient:
        retry(topic, error.line, after: Self.wait(head, error.code), now)
      case 200...299, 300...399: throw Failure(topic.display, "not the answer of an ntfy server")
      default: throw Failure(topic.display, error.line)
      }
    case .failed(let reason) where isMistrusted: throw Failure(topic.display, reason)
    case .failed(let reason): retry(topic, reason, after: nil, now)
    case .late: retry(topic, "no answer", after: nil, now)
    case .unusable(let failure): throw Failure(topic.display, failure.reason, failure.status)
    }
    return nil
  }

  private func retry(_ topic: NtfyTopic, _ reason: String, after wait: Double?, _ now: Double) {
    if !hasNoted { outcome.note(topic.display, "\(reason): tried again") }
    hasNoted = true
    retryAt = now + max(backoff.next(random: Double.random(in: 0..<1)), wait ?? 0)
  }

  /// A token that was refused is never tried again: 30 wrong ones lock all out.
  static func refusal(_ topic: NtfyTopic, _ reason: String) -> Failure {
    topic.token?.isRefused = true
    return Failure(topic.display, "\(reason): the token was refused", .denied)
  }

  /// How long a server that has enough of us is left alone.
  static func wait(_ head: ResponseHead, _ code: Int?) -> Double? {
    switch code {
    case 42909: lockout
    case 42901: pace
    default: head.wait(now: Clock.unix).map { min($0, 300) }
    }
  }
}
