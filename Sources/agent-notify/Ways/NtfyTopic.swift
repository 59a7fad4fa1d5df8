import Agent
import Core
import Records
import Screen
import Web

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
        try NtfyTopic(place, allowPlaintext: options.access.allowPlaintext, options.ntfy, &tokens))
    }
    return topics
  }

  /// A topic that others use, by a token of theirs.
  static func other(
    _ url: String, token: String?, allowPlaintext: Bool, _ tokens: inout [NtfyToken]
  ) throws(Failure) -> NtfyTopic {
    try NtfyTopic(
      NotifyOptions.Topic(url: url, token: token), allowPlaintext: allowPlaintext, [], &tokens)
  }

  /// The same with the token of another one on its server.
  init(_ topic: NtfyTopic, tokenOf other: NtfyTopic) {
    (self.topic, display, base, trust) = (topic.topic, topic.display, topic.base, topic.trust)
    (token, isDirect) = (other.token, other.isDirect)
  }

  private init(
    _ place: NotifyOptions.Topic, allowPlaintext: Bool, _ all: [NotifyOptions.Topic],
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
