import CCrypto
import Core
import Records

/// The endpoints of a voice server, under `/riff/` (Agent/Riff/CONTRACT.md).
struct RiffService: Sendable {
  private static let unsigned = WholeAnswer.error("unauthorized", status: 401)
  private static let emptyClip = WholeAnswer.error("empty clip", status: 400)
  private static let noReplies = WholeAnswer.error("no reply command", status: 503)
  /// How much of clips is kept at a time, bytes: sixteen of the largest ones.
  private static let clipLimit = 16 * RiffEndpoint.audio.limit
  private static let listenerLimit = 32

  let secret: RiffSecret
  let store: ActionStore
  let transcriber: Transcriber?
  let gateway: Gateway?
  let narrator: Narrator?
  let diagnostics: Diagnostics
  private let heard = KeptAnswers<CommandMade<String>> { made in
    if case .done(let text) = made { text.utf8.count } else { nil }
  }
  private let kept = KeptAnswers<WholeAnswer> { $0.status == 200 ? $0.body.count : nil }
  private let listeners = Budget(limit: listenerLimit)
  private let clips = Budget(limit: clipLimit)

  static func isAsked(_ head: RequestHead) -> Bool { head.path.utf8.starts(with: "/riff/".utf8) }

  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    // What is not signed at all is read, so that the client sees the answer, but not kept.
    guard RiffSecret.isSignature(head["x-riff-secret"]) else { return BodyPlan() }
    let endpoint = endpoint(head)
    return BodyPlan(
      keeps: true, limit: endpoint?.limit ?? RiffEndpoint.message.limit,
      // What a clip is worth is known when all of it is there.
      share: endpoint?.takesClip == true ? clips.share() : BodyPlan.budget.share(),
      isHeld: endpoint == .narrate)
  }

  /// The answer that is certain before the body has come: to who signs nothing.
  func refusal(of head: RequestHead) -> WholeAnswer? {
    RiffSecret.isSignature(head["x-riff-secret"]) ? nil : Self.unsigned
  }

  func answer(_ head: RequestHead, _ body: RequestBody) async -> WholeAnswer {
    let endpoint = endpoint(head)
    guard let signature = head["x-riff-secret"], RiffSecret.isSignature(signature) else {
      return Self.unsigned
    }
    // What was not kept cannot be compared with its signature.
    guard case .whole(let bytes) = body else {
      // The contract knows no other word for a message that is too long.
      let limit = RiffEndpoint.message.limit
      return endpoint == .message
        ? .error("larger than \(limit) bytes", status: 400) : .tooLarge
    }
    guard secret.signs(bytes, as: signature) else { return Self.unsigned }
    do {
      let query = QueryParameters(head.query)
      switch endpoint {
      case .transcribe:
        return await hear(head, bytes, signature) { .json(RecordText().string("transcript", $0)) }
      case .audio: return try await talk(head, clip: bytes, signature)
      case .message: return try await talk(head, message: bytes, signature)
      case .conversation: return try await conversation(query)
      case .sessions: return try await sessions(query)
      case .narrate: return await narrate(query)
      case .health: return health
      case nil: return .noSuchMethod
      }
    } catch let refusal as Refusal {
      return refusal.answer
    } catch {
      diagnostics.errorRarely(head.path, errorText(error))
      return .error(errorText(error), status: 500)
    }
  }

  func stop() async {
    async let clips: Void? = transcriber?.stop()
    async let turns: Void? = narrator?.stop()
    _ = await (clips, turns)
  }

  private func endpoint(_ head: RequestHead) -> RiffEndpoint? {
    let method = head.method == "HEAD" ? "GET" : head.method
    return RiffEndpoint(rawValue: head.path).flatMap { $0.method == method ? $0 : nil }
  }

  private var health: WholeAnswer {
    .json(
      RecordText().bool("ok", true).number("ts", Timestamp.now().epoch)
        .bool("transcriber", transcriber != nil).bool("replies", gateway != nil)
        .bool("speaker", narrator != nil))
  }
}

extension Timestamp {
  /// Seconds since 1970, to the millisecond.
  var epoch: Double { Double(milliseconds) / 1000 }
}

/// What is said in clips (Agent/Riff/CONTRACT.md 2).
extension RiffService {
  /// Unless it was heard before: no two recordings are alike.
  func hear(
    _ head: RequestHead, _ clip: [UInt8], _ signature: String,
    _ answer: @Sendable (String) async -> WholeAnswer
  ) async -> WholeAnswer {
    if clip.isEmpty { return Self.emptyClip }
    guard let transcriber else { return .error("no transcriber", status: 503) }
    let format = head["x-riff-audio-format"]
    // Several may wait for it; it has failed once.
    let outcome = await heard.answer(signature) {
      let outcome = await transcriber.hear(clip, format: format)
      if case .failed(let reason) = outcome { diagnostics.errorRarely("transcriber", reason) }
      return outcome
    }
    switch outcome {
    case .done(let text): return await answer(text)
    case .busy: return .busy
    case .failed(let reason): return .error("the transcriber failed: \(reason)", status: 502)
    }
  }
}

/// What the coding agent says, read aloud (Agent/Riff/CONTRACT.md 4).
extension RiffService {
  /// `GET /riff/narrate-poll`: held until a turn ends.
  func narrate(_ query: QueryParameters) async -> WholeAnswer {
    guard let after = query.epoch("after") else { return .error("bad after", status: 400) }
    let slug = query["cwd_slug"].flatMap { $0.isEmpty ? nil : $0 }
    if let slug, !TranscriptFolder.isSlug(slug) { return .error("bad cwd_slug", status: 400) }
    guard let narrator else { return .error("no speaker", status: 503) }
    guard let listener = listeners.share(1) else { return .busy }
    let turn = await narrator.turn(slug: slug, after: after)
    withExtendedLifetime(listener) {}
    guard let turn else { return WholeAnswer(status: 204, type: "", body: []) }
    switch await narrator.say(turn.prose) {
    case .done(let sound):
      return .json(
        RecordText().number("ts", Double(turn.time) / 1000)
          .string("audio_b64", Base64.text(sound)).number("chars", turn.prose.count))
    case .busy: return .busy
    case .failed(let reason):
      diagnostics.errorRarely("speaker", reason)
      return .error("the speaker failed: \(reason)", status: 502)
    }
  }
}

/// What is said, and what was said (Agent/Riff/CONTRACT.md 3).
extension RiffService {
  /// How long a reply may take, with the time that it waits for its turn, seconds.
  private static let replySeconds = 120.0

  /// `POST /riff/message`.
  func talk(
    _ head: RequestHead, message body: [UInt8], _ signature: String
  ) async throws -> WholeAnswer {
    let message = try RiffMessage(body)
    // People say the same thing twice: only its time tells that it is the same message.
    let time = head["x-riff-ts"]
    return await kept.answer("message \(signature) \(time ?? "")", keeps: time != nil) {
      await reply(to: message.text, message.conversation, transcript: nil)
    }
  }

  /// `POST /riff/audio`.
  func talk(
    _ head: RequestHead, clip: [UInt8], _ signature: String
  ) async throws -> WholeAnswer {
    guard let conversation = try? RiffMessage.Conversation(head["x-riff-session-id"]) else {
      return .error("bad X-Riff-Session-Id", status: 400)
    }
    if clip.isEmpty { return Self.emptyClip }
    if gateway == nil { return Self.noReplies }
    // The signature is that of the clip alone, which may be said elsewhere, too.
    let time = head["x-riff-ts"] ?? ""
    return await kept.answer("audio \(signature) \(conversation.id) \(time)") {
      await hear(head, clip, signature) { text in
        if !text.isEmpty { return await reply(to: text, conversation, transcript: text) }
        return answer(SaidReply(outcome: .reply, text: ""), conversation, transcript: "")
      }
    }
  }

  private func reply(
    to text: String, _ conversation: RiffMessage.Conversation, transcript: String?
  ) async -> WholeAnswer {
    guard let gateway else { return Self.noReplies }
    do {
      let reply = try await gateway.wholeReply(
        to: text, SessionKey(conversation.key), id: randomUUID(),
        seconds: Self.replySeconds)
      return answer(reply, conversation, transcript: transcript)
    } catch let fault as GatewayFault {
      return .error(fault.message, status: 503).retrying(after: 2)
    } catch {
      diagnostics.errorRarely("the store", errorText(error))
      return .error(errorText(error), status: 500)
    }
  }

  private func answer(
    _ reply: SaidReply, _ conversation: RiffMessage.Conversation, transcript: String?
  ) -> WholeAnswer {
    switch reply.outcome {
    case .reply:
      .json(
        RecordText().string("reply", reply.text).string("conversation_id", conversation.id)
          .stringOrNull("message_id", reply.id.map { "\($0)" })
          .number("ts_reply", reply.time.epoch).string("transcript", transcript))
    case .aborted: .error("the reply was stopped", status: 503)
    case .failed(let reason, "timeout"): .error(reason, status: 504)
    case .failed(let reason, _): .error(reason, status: 502)
    }
  }

  // MARK: - What was said

  /// `GET /riff/conversation`.
  func conversation(_ query: QueryParameters) async throws -> WholeAnswer {
    let conversation = try RiffMessage.Conversation(query["conversation_id"])
    let page = try await store.chat(
      conversation.key, offset: 0, limit: query.limit(default: 200))
    let messages = page.messages.map { message in
      RecordText().stringOrNull("message_id", message.id.map { "\($0)" })
        .string("role", message.role).string("text", message.text)
        .number("ts", Double(message.time) / 1000)
    }
    return .json(
      RecordText().objects("messages", messages).string("conversation_id", conversation.id))
  }

  /// `GET /riff/sessions`.
  func sessions(_ query: QueryParameters) async throws -> WholeAnswer {
    guard let since = query.epoch("since") else { return .error("bad since", status: 400) }
    // Clients of the gateway may name theirs as they like.
    let rows = try await store.chatSessions(
      limit: query.limit(default: 100), since: since,
      where: { RiffMessage.Conversation(key: $0) != nil })
    let sessions = rows.map { row in
      RecordText().string("conversation_id", RiffMessage.Conversation(key: row.key)?.id ?? "")
        .number("ts", Double(row.updated) / 1000).string("last", row.last ?? "")
    }
    return .json(RecordText().objects("sessions", sessions))
  }
}

extension QueryParameters {
  /// How many rows are wanted, 1 to 1000.
  fileprivate func limit(default fallback: Int) -> Int {
    word("limit") == nil ? fallback : integer("limit", default: fallback, in: 1...1000)
  }

  /// An instant in seconds since 1970, as milliseconds; 0 where there is none. Returns nil for what
  /// is no such number.
  func epoch(_ name: String) -> Int? {
    guard let text = self[name], !text.isEmpty else { return 0 }
    guard let seconds = Double(javaScript: text), abs(seconds) < 1e12 else { return nil }
    return Int((seconds * 1000).rounded())
  }
}

/// What the voice server is asked for (Agent/Riff/CONTRACT.md 2 to 4).
enum RiffEndpoint: String, CaseIterable, Sendable {
  case transcribe = "/riff/transcribe-only"
  case audio = "/riff/audio"
  case message = "/riff/message"
  case conversation = "/riff/conversation"
  case sessions = "/riff/sessions"
  case narrate = "/riff/narrate-poll"
  case health = "/riff/health"

  var method: String { limit == 0 ? "GET" : "POST" }

  /// The longest body, bytes.
  var limit: Int {
    switch self {
    case .transcribe, .audio: 25 << 20
    case .message: 8 << 10
    case .conversation, .sessions, .narrate, .health: 0
    }
  }

  var takesClip: Bool { self == .transcribe || self == .audio }
}

/// A message to the agent (Agent/Riff/CONTRACT.md 3).
struct RiffMessage: Equatable, Sendable {
  let conversation: Conversation
  /// Never blank.
  let text: String

  init(_ body: [UInt8]) throws(Refusal) {
    guard let object = try? body.withUnsafeBytes({ try JSONValue.parse($0) }), object.isObject
    else { throw Refusal(bad: "not a JSON object") }
    conversation = try Conversation(object["conversation_id"]?.string)
    guard let text = object["text"]?.string, !text.trimmingBlanks().isEmpty else {
      throw Refusal(bad: "no text")
    }
    self.text = text
    if let device = object["device_id"], !device.isNull, device.string == nil {
      throw Refusal(bad: "device_id is not a string")
    }
  }

  struct Conversation: Equatable, Sendable {
    private static let keyStart = "agent:\(SessionKey.agent):riff:"
    private static let longest = 64

    let id: String

    init(_ id: String?) throws(Refusal) {
      guard let id, isPlainWord(id, atMost: Self.longest) else {
        throw Refusal(bad: "bad conversation_id")
      }
      self.id = id
    }

    init?(key: String) {
      guard key.hasPrefix(Self.keyStart),
        let own = try? Self(String(key.dropFirst(Self.keyStart.count)))
      else { return nil }
      self = own
    }

    var key: String { Self.keyStart + id }
  }
}

/// Whether a text is of letters and digits of ASCII, `-` and `_`, so many at most.
func isPlainWord(_ text: String, atMost limit: Int) -> Bool {
  (1...limit).contains(text.utf8.count)
    && text.utf8.allSatisfy(\.isOfName)
}

/// What the voice server and its clients know, and nobody else (Agent/Riff/CONTRACT.md 1).
struct RiffSecret: Sendable {
  private let key: [UInt8]

  init?(_ text: String) {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == 64, text.utf8.count == 64 else { return nil }
    key = stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  static func isSignature(_ given: String?) -> Bool {
    guard let digits = given?.utf8, digits.count == 64 else { return false }
    return digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Whether somebody who knows the secret made a body.
  func signs(_ body: [UInt8], as given: String?) -> Bool {
    AccessToken(signature(of: body)).matches(given)
  }

  /// The lower-case hexadecimal HMAC-SHA256 of a body (RFC 2104).
  func signature(of body: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    HMAC(EVP_sha256(), key, Int32(key.count), body, body.count, &digest, &count)
    return digest[..<Int(count)].hex
  }
}
