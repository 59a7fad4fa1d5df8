import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// Where answers of a phone are heard: buttons under a notice post a code to a topic that is listened
/// to here. The loop that tells notices must not wait for it, and so it makes its stream again itself.
final class AnswerTopic {
  private let topic: NtfyTopic
  private let buttons: NtfyTopic
  /// Where the buttons post to, as the phone reaches it.
  private let buttonURL: String
  private let click: String?
  private let client: WebClient
  private let outcome: Outcome
  private let check: AnswerCheck

  private var stream: LineStream?
  private var openedAt = Double.infinity
  private var retryAt = 0.0
  private var backoff = Backoff(base: 0.5, cap: 10)
  /// The last message that the server keeps, behind which a stream goes on; before there is one,
  /// when the first stream was opened, by the server's clock.
  private var last: String?
  private var begun: String?
  private var isLost = false
  /// A code of no question, which shows that those of questions are heard.
  private let test = Ask.newCode()
  private enum Proof {
    /// It is posted at that time, once somebody listens.
    case due(Double)
    case posting(Fetch)
    /// It is to be heard by then.
    case posted(Double)
    case heard
  }
  private var proof = Proof.due(.infinity)
  private(set) var isClosed = false

  /// The codes that were heard.
  private var heard: [String] = []

  /// The server says something every 45 seconds.
  private static let silence = 60.0
  /// How long the test code has, seconds.
  private static let patience = 20.0
  /// A stream that lived so long was a good one, seconds.
  private static let calm = 10.0
  /// Messages of one turn: whoever makes noise must not keep the rest waiting.
  private static let mostLines = 1000

  init(
    _ options: NotifyOptions, notices: [NtfyTopic], _ client: WebClient, _ outcome: Outcome
  ) throws(Failure) {
    var tokens: [NtfyToken] = []
    func other(_ url: String, token: String?) throws(Failure) -> NtfyTopic {
      try NtfyTopic((url, token), allowPlaintext: options.access.allowPlaintext, &tokens)
    }
    let url = options.answers ?? ""
    buttons = try other(url, token: options.buttonsToken)
    let origin = buttons.base.origin
    guard let notice = notices.first(where: { $0.base.origin == origin }) else {
      throw Failure(buttons.display, "not on a server of --ntfy")
    }
    topic = NtfyTopic(buttons, tokenOf: notice)
    let display = buttons.display
    guard !notices.contains(where: { $0.display == display }) else {
      throw Failure(display, "the answers need a topic of their own")
    }
    buttonURL = options.buttons ?? url
    guard !buttonURL.holds("=?") else { throw Failure(topic.display, "the address has '=?'") }
    // What the phone sends travels there, too.
    let phones = try other(buttonURL, token: options.buttonsToken)
    guard phones.topic == topic.topic else {
      throw Failure(phones.display, "another topic than that of --answers")
    }
    for address in [buttons.base, phones.base] + notices.map(\.base) {
      let mayTravel = Credentials.mayTravel(
        scheme: address.scheme, host: address.host,
        allowPlaintext: options.access.allowPlaintext)
      guard mayTravel else {
        throw Failure(
          address.display, "the codes would travel over plain http; see --allow-plaintext")
      }
    }
    var seen = [buttons]
    for place in options.ntfy {
      let one = try other(place.url, token: options.buttonsToken)
      if one.base.origin == origin { seen.append(one) }
    }
    check = try AnswerCheck(
      notices: notices, answers: topic, buttons: seen, client, outcome)
    (self.client, self.outcome, click) = (client, outcome, options.click)
  }

  var name: String { topic.display }

  func takeHeard() -> [String] {
    defer { heard = [] }
    return heard
  }

  // MARK: - What is asked

  /// Whether `message` has something else than `wait` for a question.
  var mayAsk: Bool { isProven || isClosed }

  /// The message that asks, and its buttons.
  func message(
    _ delivery: Delivery, of ask: Ask, to place: NtfyTopic
  ) -> (body: [UInt8], actions: String) {
    var shown = Array(zip(ask.buttons, ask.codes))
    while true {
      let actions = actions(shown)
      let (body, isWhole) = NtfyMessage.whole(
        delivery, topic: place.topic, click: click,
        most: NtfyMessage.mostWithButtons - actions.utf8.count)
      let rest = shown.filter { $0.0 == .no }
      if isWhole || shown.count == rest.count {
        // One word of ours: of what looks like one, the server makes something else.
        return (body, "=?UTF-8?B?\(Base64.text(Array(actions.utf8)))?=")
      }
      // Nobody can allow what they have not seen.
      shown = rest
    }
  }

  private func actions(_ shown: [(Button, String)]) -> String {
    let token = buttons.token.map {
      RecordText().string("Authorization", "Bearer \($0.secret.reveal())")
    }
    var list = shown.map { button, code in
      RecordText().string("action", "http").string("label", button.label)
        .string("url", buttonURL).string("method", "POST").object("headers", token)
        .string("body", code).bool("clear", true)
    }
    // Who cannot answer here is shown where.
    if let click, list.count < 2 {
      list.append(
        RecordText().string("action", "view").string("label", "Open").string("url", click))
    }
    return "["
      + list.map { String(decoding: $0.bytes, as: UTF8.self) }.joined(separator: ",") + "]"
  }

  // MARK: - What goes on

  /// Goes on. Returns when to be called again at the latest.
  ///
  /// - Throws: what is wrong, while nobody was asked yet.
  func work(now: Double) throws(Failure) -> Double {
    if isClosed { return .infinity }
    let due = check.isDone ? try listen(now: now) : try check.work(now: now)
    return min(due, try prove(now: now))
  }

  private func listen(now: Double) throws(Failure) -> Double {
    guard let stream else {
      if topic.token?.isRefused == true {
        try close(topic.refusal("not tried with a token"))
        return .infinity
      }
      if now < retryAt { return retryAt }
      self.stream = LineStream(client, try topic.following(since: last ?? begun))
      openedAt = now
      return now + Self.silence
    }
    if stream.head.map({ (200...299).contains($0.status) }) == true {
      for count in 1... {
        guard let line = stream.next() else { break }
        hear(line)
        if count == Self.mostLines { return now }
      }
    }
    let limit = stream.lastHeard + Self.silence
    if stream.end == nil, now < limit { return limit }
    self.stream = nil
    stream.cancel()
    try lose(stream, now)
    return retryAt
  }

  private func hear(_ line: [UInt8]) {
    guard let event = try? JSONValue.parse(line) else { return }
    switch event["event"]?.string {
    case "open":
      begun = begun ?? event["time"]?.integer.map(String.init)
      if isLost { outcome.note(name, "listening again") }
      isLost = false
      if case .due = proof { proof = .due(0) }
    case "message":
      // Ours to put into an address.
      if event["expires"] != nil, let id = event["id"]?.string, id.utf8.count <= 64,
        id.utf8.allSatisfy(\.isAlphanumeric)
      {
        last = id
      }
      guard let code = event["message"]?.string, Ask.isCode(code) else { return }
      if code == test {
        proof = .heard
        return
      }
      heard.append(code)
    default: break
    }
  }

  /// The stream is gone, or was not to be had.
  private func lose(_ stream: LineStream, _ now: Double) throws(Failure) {
    var reason = "nothing came for 60 s"
    var wait: Double?
    if let head = stream.head, !(200...299).contains(head.status) {
      switch NtfyAnswer(head, stream.rest) {
      case .refused(let error): return try close(topic.refusal(error.line))
      case .forbidden(let error):
        return try close(Failure(name, "\(error.line): it may not be read", .denied))
      case .later(let error): (reason, wait) = (error.line, error.wait)
      case .failed(let error, _): return try close(Failure(name, error.line))
      case .done: break
      }
    } else if let end = stream.end {
      switch end {
      case .network(let why): reason = why
      case .unusable(let failure): return try close(Failure(name, failure.reason, failure.status))
      case .complete, .stopped: reason = "the server closed the stream"
      }
    }
    if !isLost { outcome.note(name, "\(reason): tried again") }
    isLost = true
    // Each try counts for the server's limit, which is for notices as well.
    if now - openedAt > Self.calm { backoff.reset() }
    retryAt = now + max(backoff.next(random: Double.random(in: 0..<1)), wait ?? 0)
  }

  /// No answer is heard any more: what comes then is told without buttons.
  private func close(_ failure: Failure) throws(Failure) {
    guard isProven else { throw failure }
    isClosed = true
    outcome.fail(name, "\(failure.reason); nobody is asked there any more", failure.status)
  }

  private var isProven: Bool { if case .heard = proof { true } else { false } }

  /// Posts a code as a button does, and sees whether it is heard.
  private func prove(now: Double) throws(Failure) -> Double {
    switch proof {
    case .heard: return .infinity
    case .due(let time):
      guard now >= time else { return time }
      proof = .posting(
        Fetch(client, try buttons.posting(test), now: now, silence: 20, limit: 1 << 16))
    case .posting(let fetch):
      let due = fetch.due(now)
      guard let end = fetch.end else { return due }
      proof = try posted(NtfyAnswer(fetch, end), now)
    case .posted(let time):
      guard now >= time else { return time }
      // A server without a file has lost it when it was started again.
      guard isLost else { throw Failure(name, "a code that was posted was not heard", .temporary) }
      proof = .due(.infinity)
    }
    return now
  }

  private func posted(_ answer: NtfyAnswer, _ now: Double) throws(Failure) -> Proof {
    switch answer {
    case .done: return .posted(now + Self.patience)
    case .refused(let error): throw buttons.refusal(error.line)
    case .forbidden:
      let whose = buttons.token == nil ? "everyone" : "the buttons' user"
      throw Failure(
        name, "the buttons may not write it: make it write-only for \(whose)", .denied)
    case .failed(let error, _) where error.status != 0: throw Failure(name, error.line)
    case .later(let error), .failed(let error, _): return .due(now + (error.wait ?? 5))
    }
  }

  // MARK: - Trying it

  /// Waits until it is known that answers are heard.
  ///
  /// - Throws: what is wrong.
  func prove() throws(Failure) {
    let limit = Clock.monotonic + 60
    while !isProven {
      if Clock.monotonic >= limit { throw Failure(name, "no answer", .temporary) }
      client.perform()
      let now = Clock.monotonic
      let due = try work(now: now)
      client.wait(seconds: max(0, min(due - Clock.monotonic, 1)), reading: [EndSignals.descriptor])
      if let signal = EndSignals.next() { Process.die(by: signal) }
    }
  }
}

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
  /// Shorter than the usual: until it is done nobody is asked.
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
