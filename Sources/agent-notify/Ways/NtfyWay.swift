import Agent
import Core
import Records
import Web

final class NtfyWay: Way {
  var name: String { place.display }
  private let outcome: Outcome
  private let client: WebClient
  private let place: NtfyTopic
  private let click: String?
  private let answers: Answers?
  private var queue = WayQueue()
  /// Questions, while nobody may be asked yet.
  private var early: [Telling] = []
  var ended: [WayEnd] = []
  private var current: (delivery: Delivery, of: [Telling])?
  private var fetch: Fetch?
  private var retryAt = 0.0
  private var backoff = Backoff(base: 2, cap: 30)
  private var generator = SystemRandomNumberGenerator()
  /// Since when nothing was taken, seconds of the monotonic clock; nil while all is.
  private var failingSince: Double?
  private var hasNotedLimit = false
  private var isForbidden = false

  /// How long a server may fail before all that waits is left to a later try, seconds.
  private static let patience = 180.0
  /// Requests above its limit are taken one in so many seconds.
  private static let pace = 5.0
  /// How long nobody is let in who had too many wrong tokens, seconds.
  private static let lockout = 60.0

  init(
    _ place: NtfyTopic, click: String?, _ answers: Answers?, _ client: WebClient,
    _ outcome: Outcome
  ) {
    (self.place, self.click, self.client, self.outcome) = (place, click, client, outcome)
    self.answers = answers
  }

  var isIdle: Bool { current == nil && queue.isEmpty && early.isEmpty }
  var isClosed: Bool { isForbidden || place.token?.isRefused == true }

  func post(_ telling: Telling) { queue.add(telling) }

  func work(now: Double) -> Double {
    if let fetch {
      let due = fetch.due(now)
      guard let end = fetch.end else { return due }
      self.fetch = nil
      finish(end, isMistrusted: fetch.isMistrusted, now)
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

  private func finish(_ end: FetchEnd, isMistrusted: Bool, _ now: Double) {
    place.token?.isAsked = false
    switch end {
    case .response(let head, let body):
      if head.status == 403 || (200...299).contains(head.status) { place.token?.isTaken = true }
      let error = NtfyError(head, body)
      // A redirect may have made another request of it, which some page answered.
      let answer = try? body.withUnsafeBytes { try JSONValue.parse($0) }
      switch (head.status, error.code) {
      case (200...299, _) where answer?["id"]?.string != nil:
        (failingSince, retryAt) = (nil, now)
        backoff.reset()
        settle(nil)
      case (200...299, _): giveUpAll("not the answer of an ntfy server", .temporary)
      case (401, _):
        place.token?.isRefused = true
        isForbidden = true
        giveUpAll("\(error.line): the token was refused; nothing more is told there", .denied)
      case (403, _):
        isForbidden = true
        let who = place.token == nil ? "without a token" : "with this token"
        giveUpAll(
          "\(error.line): writing \(who) was refused; nothing more is told there", .denied)
      // The messages of a day are used up.
      case (429, 42908): giveUpAll(error.line, .temporary)
      case (429, 42909): retry(error.line, after: Self.lockout, now)
      case (429, 42901): retry(error.line, after: Self.pace, now, isLimit: true)
      case _ where head.isTransient:
        retry(error.line, after: head.wait(now: Clock.unix), now)
      // Of the topic.
      case (400, 40009), (400, 40010): giveUpAll(error.line, .failure)
      // What it does not take of one message says nothing about the next one.
      case (400, _), (413, _):
        settle(WayFailure(reason: error.line, status: .failure, isFinal: true))
      default: giveUpAll(error.line, .failure)
      }
    case .failed(let reason) where isMistrusted: giveUpAll(reason, .failure)
    case .failed(let reason): retry(reason, after: nil, now)
    case .late: retry("no answer", after: nil, now)
    case .unusable(let failure): giveUpAll(failure.reason, failure.status)
    }
  }

  /// - Parameter isLimit: whether more came at once than it takes, which is nobody's failure.
  private func retry(_ reason: String, after wait: Double?, _ now: Double, isLimit: Bool = false) {
    let own = backoff.next(random: Double.random(in: 0..<1, using: &generator))
    // A server that asks for hours gets them from nobody who is to be told something.
    retryAt = Clock.monotonic + max(isLimit ? 0 : own, min(wait ?? 0, 300))
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
    ended.append(
      WayEnd(tellings: all, failure: WayFailure(reason: reason, status: status)))
    current = nil
  }

  private func settle(_ failure: WayFailure?) {
    ended.append(WayEnd(tellings: current?.of ?? [], failure: failure))
    current = nil
  }
}
