import Agent
import Core
import Records
import Web

final class NtfyWay: Way {
  private let outcome: Outcome
  private let client: WebClient
  private let place: NtfyTopic
  private let click: String?
  private let answers: Answers?
  private var queue = WayQueue()
  /// Questions, while nobody may be asked yet.
  private var early: [Telling] = []
  private var current: (delivery: Delivery, of: [Telling])?
  private var fetch: Fetch?
  private var retryAt = 0.0
  private var backoff = Backoff(base: 2, cap: 30)
  /// Since when nothing was taken, seconds of the monotonic clock; nil while all is.
  private var failingSince: Double?
  private var hasNotedLimit = false
  private var isForbidden = false

  /// How long a server may fail before all that waits is left to a later try, seconds.
  private static let patience = 180.0

  init(
    _ place: NtfyTopic, click: String?, _ answers: Answers?, _ client: WebClient,
    _ outcome: Outcome
  ) {
    (self.place, self.click, self.client, self.outcome) = (place, click, client, outcome)
    self.answers = answers
    super.init(place.display)
  }

  override var isIdle: Bool { current == nil && queue.isEmpty && early.isEmpty }
  override var isClosed: Bool { isForbidden || place.token?.isRefused == true }

  override func post(_ telling: Telling) { queue.add(telling) }

  override func work(now: Double) -> Double {
    if let fetch {
      let due = fetch.due(now)
      guard let end = fetch.end else { return due }
      self.fetch = nil
      finish(NtfyAnswer(fetch, end), now)
    }
    // The token was refused to another topic of the server.
    if isClosed, !isIdle { giveUpAll("not tried with a token that was refused", .denied) }
    if !early.isEmpty, answers?.topic?.mayAsk != false {
      for telling in early { queue.add(telling) }
      early = []
    }
    while true {
      if current == nil {
        current = queue.next { outcome.noteSum(name, $0) }.map { ($0.0, $0.of) }
      }
      guard let current else { return .infinity }
      if now < retryAt { return retryAt }
      switch answers?.onPhone(current.delivery) ?? .plain {
      case .wait:
        early += current.of
        self.current = nil
      case .gone: settle(nil)
      case .plain:
        let body = NtfyMessage.body(current.delivery, topic: place.topic, click: click)
        return post(place.publishing(body), now)
      case .question(let ask, let delivery):
        guard let topic = answers?.topic else { return .infinity }
        let (body, actions) = topic.message(delivery, of: ask, to: place)
        return post(place.publishing(body, actions: actions), now)
      }
    }
  }

  private func post(_ request: Request, _ now: Double) -> Double {
    if let token = place.token, !token.isTaken {
      if token.isAsked { return now + 0.02 }
      token.isAsked = true
    }
    fetch = Fetch(client, request, now: now, silence: 20, limit: 1 << 20)
    return now
  }

  private func finish(_ answer: NtfyAnswer, _ now: Double) {
    place.token?.isAsked = false
    switch answer {
    case .done(let answer):
      place.token?.isTaken = true
      // A redirect may have made another request of it, which some page answered.
      guard answer?["id"]?.string != nil else {
        return giveUpAll("not the answer of an ntfy server", .temporary)
      }
      (failingSince, retryAt) = (nil, now)
      backoff.reset()
      settle(nil)
    case .refused(let error):
      place.token?.isRefused = true
      isForbidden = true
      giveUpAll("\(error.line): the token was refused; nothing more is told there", .denied)
    case .forbidden(let error):
      place.token?.isTaken = true
      isForbidden = true
      let who = place.token == nil ? "without a token" : "with this token"
      giveUpAll("\(error.line): writing \(who) was refused; nothing more is told there", .denied)
    // The messages of a day are used up.
    case .later(let error) where error.code == 42908: giveUpAll(error.line, .temporary)
    case .later(let error): retry(error, now)
    // What it does not take of one message says nothing about the next one, unless it is the topic.
    case .failed(let error, _)
    where error.status == 413 || error.status == 400 && ![40009, 40010].contains(error.code):
      settle(Failure(error.line, .failure), isFinal: true)
    case .failed(_, let failure): giveUpAll(failure.reason, failure.status)
    }
  }

  private func retry(_ error: NtfyError, _ now: Double) {
    let reason = error.line
    // More came at once than it takes, which is nobody's failure.
    let isLimit = error.code == 42901
    let own = backoff.next(random: Double.random(in: 0..<1))
    retryAt = Clock.monotonic + max(isLimit ? 0 : own, error.wait ?? 0)
    let since = failingSince ?? now
    if now - since >= Self.patience { return giveUpAll("\(reason): given up", .temporary) }
    if isLimit {
      if !hasNotedLimit { outcome.note(name, "\(reason): the rest is told more slowly") }
      hasNotedLimit = true
    } else if failingSince == nil {
      outcome.note(name, "\(reason): tried again")
    }
    failingSince = since
  }

  /// What is wrong with the server is wrong for all that waits for it.
  private func giveUpAll(_ reason: String, _ status: ExitStatus) {
    let all = (current?.of ?? []) + queue.drain() + early
    early = []
    end(all, Failure(reason, status))
    current = nil
  }

  private func settle(_ failure: Failure?, isFinal: Bool = false) {
    end(current?.of ?? [], failure, isFinal: isFinal)
    current = nil
  }
}
