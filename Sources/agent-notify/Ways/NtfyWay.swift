import Agent
import Core
import Records
import Screen
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
  /// Shorter than the usual: what waits is for a person.
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

/// A token for the topics of one server, and whether that took it.
final class NtfyToken {
  fileprivate let held: HeldToken
  fileprivate let file: String
  fileprivate let origin: Origin
  /// What stands in the buttons of a notice.
  let secret: Secret
  /// After 30 wrong tokens a server lets nobody of this address in: one is never tried twice, nor
  /// at two topics before the answer to one.
  var isRefused = false
  var isTaken = false
  var isAsked = false

  fileprivate init(_ token: Secret, file: String, _ credentials: Credentials, _ origin: Origin) {
    (self.file, self.origin, secret) = (file, origin, token)
    held = HeldToken(
      token, of: origin,
      header: { token, _ in Header("Authorization", "Bearer \(token.reveal())") },
      again: { credentials.tokenAgain(option: file, profile: nil, runs: $0) })
  }
}

/// Where notifications are posted: a topic of a server.
struct NtfyTopic {
  let topic: String
  let token: NtfyToken?
  /// For messages.
  let display: String
  let base: WebAddress
  private let isDirect: Bool
  private let trust: ServerTrust

  /// The topics of these options.
  ///
  /// - Throws: `Failure`: no topic, or a token that cannot be read or would travel in clear text.
  static func all(_ options: NotifyOptions) throws(Failure) -> [NtfyTopic] {
    var tokens: [NtfyToken] = []
    var topics: [NtfyTopic] = []
    for place in options.ntfy {
      topics.append(
        try NtfyTopic(
          place, allowPlaintext: options.access.allowPlaintext, among: options.ntfy, &tokens))
    }
    return topics
  }

  /// The same with the token of another one on its server.
  init(_ topic: NtfyTopic, tokenOf other: NtfyTopic) {
    (self.topic, display, base, trust) = (topic.topic, topic.display, topic.base, topic.trust)
    (token, isDirect) = (other.token, other.isDirect)
  }

  /// - Parameter all: those whose tokens are for it, too, if they are on its server.
  init(
    _ place: NotifyOptions.Topic, allowPlaintext: Bool, among all: [NotifyOptions.Topic] = [],
    _ tokens: inout [NtfyToken]
  ) throws(Failure) {
    let address = try Self.address(place.url)
    topic = Self.split(place.url).topic
    guard (1...64).contains(topic.utf8.count), topic.utf8.allSatisfy(\.isOfName) else {
      throw Failure(address.display, "no topic at the end of the address")
    }
    base = address
    // What cannot be read vouches for nothing.
    let named = (try? Settings())?.fingerprint(at: place.url)
    trust = named.map(ServerTrust.certificate) ?? .authoritiesUntilNamed
    display = address.display + (address.display.hasSuffix("/") ? "" : "/") + topic
    // A server's token is for all of its topics that have none of their own.
    let file =
      place.token
      ?? all.first { other in
        other.token != nil && (try? Self.address(other.url))?.origin == address.origin
      }?.token
    guard let file else {
      (token, isDirect) = (nil, false)
      return
    }
    let mayTravel = Credentials.mayTravel(
      scheme: address.scheme, host: address.host, allowPlaintext: allowPlaintext)
    guard mayTravel else {
      throw Failure(
        address.display, "the token would travel over plain http; see --allow-plaintext")
    }
    isDirect = address.scheme == "http" && !allowPlaintext
    if let known = tokens.first(where: { $0.file == file && $0.origin == address.origin }) {
      token = known
      return
    }
    let credentials = Credentials(folders: Folders())
    guard let secret = try credentials.token(option: file, profile: nil) else {
      throw Failure(file, "no token", .denied)
    }
    let new = NtfyToken(secret, file: file, credentials, address.origin)
    tokens.append(new)
    token = new
  }

  /// A token that was refused is never tried again: 30 wrong ones lock all out.
  func refusal(_ reason: String) -> Failure {
    token?.isRefused = true
    return Failure(display, "\(reason): the token was refused", .denied)
  }

  private static func address(_ url: String) throws(Failure) -> WebAddress {
    do throws(Failure) { return try WebAddress(split(url).base) } catch {
      throw RequestArguments.fault(of: url, error)
    }
  }

  /// The server's own address, and the last name of the path.
  private static func split(_ url: String) -> (base: String, topic: String) {
    guard let slash = url.lastIndex(of: "/") else { return (url, "") }
    let base = String(url[...slash])
    // The slashes behind the scheme are of no path.
    return base.hasSuffix("://") ? (url, "") : (base, String(url[url.index(after: slash)...]))
  }

  /// A request that publishes a message.
  ///
  /// - Parameter actions: its buttons, whose codes are for nobody else.
  func publishing(_ body: [UInt8], actions: String? = nil) -> Request {
    var request = request(
      to: base, staysAtOrigin: actions != nil, type: "application/json", body: body)
    if let actions { request.privateHeaders.append(Header("Actions", actions)) }
    return request
  }

  /// A request that asks whether the topic may be read.
  func asking(withToken: Bool) throws(Failure) -> Request {
    request(to: try base.appending("\(topic)/auth"), staysAtOrigin: false, withToken: withToken)
  }

  /// A request that follows what is posted there, from now on or from behind a place.
  func following(since: String?) throws(Failure) -> Request {
    request(
      to: try base.appending("\(topic)/json" + (since.map { "?since=\($0)" } ?? "")),
      accept: "application/x-ndjson, application/json")
  }

  /// A request that posts a text as it is.
  func posting(_ text: String) throws(Failure) -> Request {
    request(to: try base.appending(topic), type: "text/plain", body: Array(text.utf8))
  }

  /// A request that asks whose the token is. The answer has all tokens of that user.
  func askingAccount() throws(Failure) -> Request { request(to: try base.appending("v1/account")) }

  private func request(
    to address: WebAddress, accept: String = "application/json", staysAtOrigin: Bool = true,
    withToken: Bool = true, type: String? = nil, body: [UInt8]? = nil
  ) -> Request {
    var request = Request(
      address, method: body == nil ? "GET" : "POST",
      headers: [Header("Accept", accept)] + (type.map { [Header("Content-Type", $0)] } ?? []),
      body: body)
    (request.staysAtOrigin, request.staysEncrypted) = (staysAtOrigin, body != nil)
    request.trust = trust
    if withToken {
      token?.held.authorize(&request)
      request.isDirect = isDirect
    }
    return request
  }
}

/// A message as the server takes it: its limits, and what it would make of a text.
enum NtfyMessage {
  /// More is an attachment, bytes.
  private static let mostMessage = 4095
  /// More is refused, bytes of JSON.
  private static let mostJSON = 8191
  /// Of a title, bytes: it is a line on a telephone.
  private static let mostTitle = 500

  /// Of a notice with buttons, bytes as a telephone gets it: more is not passed on to all.
  static let mostWithButtons = 3500

  /// The JSON.
  static func body(_ delivery: Delivery, topic: String, click: String?) -> [UInt8] {
    whole(delivery, topic: topic, click: click, most: mostJSON).body
  }

  /// The JSON, and whether all of the text is in it.
  static func whole(
    _ delivery: Delivery, topic: String, click: String?, most mostJSON: Int
  ) -> (body: [UInt8], isWhole: Bool) {
    let title = cut(WayText.title(delivery), mostTitle)
    let text = Plain.lines(delivery.body).joined(separator: "\n")
    // A message without anything to read would become `triggered`, and a title that stands below
    // itself says nothing.
    let isBare = text.unicodeScalars.allSatisfy(\.properties.isWhitespace) || text == title
    let head = RecordText().string("topic", topic).string("title", isBare ? nil : decodable(title))
    let tail = RecordText().number("priority", priority(delivery.urgency))
      .strings("tags", tag(delivery).map { [$0] }).string("click", click.map(decodable))
      .string("sequence_id", delivery.sequence)
    var most = mostMessage
    while true {
      let message = cut(isBare ? title : text, most)
      let bytes = head.string("message", message).members(Array(tail.bytes.dropFirst().dropLast()))
        .bytes
      if bytes.count <= mostJSON || most == 0 { return (bytes, !isBare && message == text) }
      most = max(0, min(most, message.utf8.count) - (bytes.count - mostJSON))
    }
  }

  private static func priority(_ urgency: NotificationRecord.Urgency) -> Int {
    switch urgency {
    case .emergency: 5
    case .urgent: 4
    case .attention: 3
    case .info: 2
    case .noise: 1
    }
  }

  /// The short code of an emoji.
  private static func tag(_ delivery: Delivery) -> String? {
    if delivery.category == "approval" { return "question" }
    return switch delivery.urgency {
    case .emergency: "rotating_light"
    case .urgent: "warning"
    case .attention: "bell"
    case .info: "information_source"
    case .noise: nil
    }
  }

  /// The server decodes the words of RFC 2047 in all but the message, of JSON too: what looks like
  /// one is sent as one, which is decoded once.
  private static func decodable(_ text: String) -> String {
    text.holds("=?") ? "=?UTF-8?B?\(Base64.text(Array(text.utf8)))?=" : text
  }

  /// The beginning, so many bytes at most. What was escaped is not cut in two.
  static func cut(_ text: String, _ most: Int) -> String {
    if text.utf8.count <= most { return text }
    let ellipsis = "…"
    var (out, count) = ("", 0)
    for scalar in text.unicodeScalars {
      let width = UTF8.width(scalar)
      if count + width + ellipsis.utf8.count > most { break }
      out.unicodeScalars.append(scalar)
      count += width
    }
    if let slash = out.utf8.suffix(11).lastIndex(of: UInt8(ascii: "\\")),
      out[slash...].utf8.starts(with: "\\u{".utf8), !out[slash...].utf8.contains(UInt8(ascii: "}"))
    {
      out = String(out[..<slash])
    }
    return most < ellipsis.utf8.count ? out : out + ellipsis
  }
}

/// What a server says, of an answer that is none of 2xx, or why there is none.
struct NtfyError {
  /// `403 Forbidden: forbidden (40301)`.
  let line: String
  let code: Int?
  /// Its status of HTTP; 0 where no answer came.
  var status = 0
  /// Not before so many seconds.
  var wait: Double?

  /// Answers to requests above its limit, and of who had too many wrong tokens, seconds.
  private static let (pace, lockout) = (5.0, 60.0)

  init(_ head: ResponseHead, _ body: [UInt8]) {
    let answer = try? JSONValue.parse(body)
    code = answer?["code"]?.integer.map { Int(clamping: $0) }
    let words = answer?["error"]?.string.map { ": " + head.quoted($0) } ?? ""
    line = head.summary + words + (code.map { " (\($0))" } ?? "")
    status = head.status
    switch code {
    case 42909: wait = Self.lockout
    case 42901: wait = Self.pace
    // A server that asks for hours gets them from nobody who is to be told something.
    default: wait = head.wait(now: Clock.unix).map { min($0, 300) }
    }
  }

  fileprivate init(_ reason: String) { (line, code) = (reason, nil) }
}

/// What came of a request.
enum NtfyAnswer {
  case done(JSONValue?)
  /// 401.
  case refused(NtfyError)
  /// 403.
  case forbidden(NtfyError)
  /// A later try may do.
  case later(NtfyError)
  case failed(NtfyError, Failure)

  init(_ head: ResponseHead, _ body: [UInt8]) {
    let error = NtfyError(head, body)
    switch head.status {
    case 200...299: self = .done(try? JSONValue.parse(body))
    case 401: self = .refused(error)
    case 403: self = .forbidden(error)
    case _ where head.isTransient: self = .later(error)
    default: self = .failed(error, Failure(error.line))
    }
  }

  init(_ fetch: Fetch, _ end: FetchEnd) {
    switch end {
    case .response(let head, let body): self.init(head, body)
    case .failed(let reason) where fetch.isMistrusted:
      self = .failed(NtfyError(reason), Failure(reason))
    case .failed(let reason): self = .later(NtfyError(reason))
    case .late: self = .later(NtfyError("no answer"))
    case .unusable(let failure): self = .failed(NtfyError(failure.reason), failure)
    }
  }
}
