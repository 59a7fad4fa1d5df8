import Agent
import Core
import Records
import Screen
import Web

final class NtfyWay: Way {
  let name: String
  private let outcome: Outcome
  private let client: WebClient
  private let request: Request
  private let topic: String
  private var queue = WayQueue()
  var ended: [WayEnd] = []
  private var current: (delivery: Delivery, of: [Telling])?
  private var fetch: Fetch?
  private var retryAt = 0.0
  private var backoff = Backoff(base: 2, cap: 60)
  private var generator = SystemRandomNumberGenerator()

  /// After so many failures a notification is given up: some three minutes.
  private static let mostTries = 7

  init(
    _ url: String, tokenFile: String?, allowPlaintext: Bool, _ client: WebClient,
    _ outcome: Outcome
  ) throws(Failure) {
    let parts = Self.split(url)
    let address: WebAddress
    do throws(Failure) { address = try WebAddress(parts.base) } catch {
      throw RequestArguments.fault(of: url, error)
    }
    topic = parts.topic
    guard (1...64).contains(topic.utf8.count), topic.utf8.allSatisfy(Self.isOfTopic) else {
      throw Failure(address.display, "no topic at the end of the address")
    }
    name = address.display
    (self.client, self.outcome) = (client, outcome)
    var request = Request(
      address, method: "POST",
      headers: [Header("Accept", "application/json"), Header("Content-Type", "application/json")])
    if let file = tokenFile {
      let folders = Folders()
      let credentials = Credentials(folders: folders)
      guard let token = try credentials.token(option: file, profile: nil) else {
        throw Failure(file, "no token", .denied)
      }
      let mayTravel = Credentials.mayTravel(
        scheme: address.scheme, host: address.host, allowPlaintext: allowPlaintext)
      guard mayTravel else {
        throw Failure(
          address.display, "the token would travel over plain http; see --allow-plaintext")
      }
      HeldToken(
        token, of: address.origin,
        header: { token, _ in Header("Authorization", "Bearer \(token.reveal())") },
        again: { credentials.tokenAgain(option: file, profile: nil, runs: $0) }
      ).authorize(&request)
      request.isDirect = address.scheme == "http" && !allowPlaintext
    }
    self.request = request
  }

  private static func isOfTopic(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
    default: false
    }
  }

  /// The server's own address, and the last name of the path.
  private static func split(_ url: String) -> (base: String, topic: String) {
    guard let slash = url.lastIndex(of: "/") else { return (url, "") }
    let base = String(url[...slash])
    // The slashes behind the scheme are of no path.
    return base.hasSuffix("://") ? (url, "") : (base, String(url[url.index(after: slash)...]))
  }

  var isIdle: Bool { current == nil && queue.isEmpty }

  func post(_ telling: Telling) { queue.add(telling) }

  func work(now: Double) -> Double {
    if let fetch {
      let due = fetch.due(now)
      guard let end = fetch.end else { return due }
      self.fetch = nil
      finish(end)
    }
    if current == nil {
      current = queue.next { outcome.noteSum(name, $0) }.map { ($0.0, $0.of) }
      backoff.reset()
      retryAt = now
    }
    guard let current else { return .infinity }
    if now < retryAt { return retryAt }
    var request = request
    request.body = body(current.delivery)
    fetch = Fetch(client, request, now: now, silence: 20, limit: 1 << 20)
    return now
  }

  private func body(_ delivery: Delivery) -> [UInt8] {
    let priority =
      switch delivery.urgency {
      case .emergency: 5
      case .urgent: 4
      case .attention: 3
      case .info: 2
      case .noise: 1
      }
    let title = WayText.title(delivery)
    let text = WayText.body(delivery)
    return RecordText().string("topic", topic).string("title", title)
      .string("message", text.isEmpty ? title : text).number("priority", priority).bytes
  }

  private func finish(_ end: FetchEnd) {
    switch end {
    case .response(let head, let body):
      // A redirect may have made another request of it, which some page answered.
      let answer = try? body.withUnsafeBytes { try JSONValue.parse($0) }
      switch head.status {
      case 200...299 where answer?["id"]?.string != nil: settle(nil)
      case 200...299: giveUp("not the answer of an ntfy server")
      case 401, 403: giveUp("\(head.summary): the token was refused", .denied)
      case _ where head.isTransient:
        retry(head.summary, after: head.wait(now: Clock.unix))
      // What it does not take of one message says nothing about the next one.
      case 400, 413: settle(WayFailure(reason: head.summary, status: .failure, isFinal: true))
      default: giveUp(head.summary, .failure)
      }
    case .failed(let reason): retry(reason, after: nil)
    case .late: retry("no answer", after: nil)
    case .unusable(let reason): giveUp(reason, .failure)
    }
  }

  private func retry(_ reason: String, after wait: Double?) {
    if backoff.count + 1 >= Self.mostTries { return giveUp("\(reason): given up") }
    if backoff.count == 0 { outcome.note(name, "\(reason): tried again") }
    let own = backoff.next(random: Double.random(in: 0..<1, using: &generator))
    // A server that asks for hours gets them from nobody who is to be told something.
    retryAt = Clock.monotonic + max(own, min(wait ?? 0, 300))
  }

  private func giveUp(_ reason: String, _ status: ExitStatus = .temporary) {
    settle(WayFailure(reason: reason, status: status))
  }

  private func settle(_ failure: WayFailure?) {
    ended.append(WayEnd(tellings: current?.of ?? [], failure: failure))
    current = nil
  }
}
