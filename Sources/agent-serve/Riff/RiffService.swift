import Core
import Records

/// The endpoints of a voice server, under `/riff/` (Agent/Riff/CONTRACT.md).
struct RiffService: Sendable {
  /// How much of clips is kept at a time, bytes: sixteen of the largest ones.
  private static let clipLimit = 16 * RiffEndpoint.audio.limit
  /// How many may wait for turns.
  private static let listenerLimit = 32

  let secret: RiffSecret
  let parts: RiffParts
  let diagnostics: Diagnostics
  /// What was heard in clips.
  let heard = KeptAnswers<Transcriber.Outcome> { outcome in
    if case .text(let text) = outcome { text.utf8.count } else { nil }
  }
  /// What was answered.
  let kept = KeptAnswers<WholeAnswer> { $0.status == 200 ? $0.body.count : nil }
  let listeners = Tickets(limit: listenerLimit)
  private let clips = ByteBudget(limit: clipLimit)

  /// - Parameters:
  ///   - secret: what requests are signed with.
  ///   - parts: what does the work.
  ///   - diagnostics: says what fails.
  init(_ secret: RiffSecret, _ parts: RiffParts, diagnostics: Diagnostics) {
    self.secret = secret
    self.parts = parts
    self.diagnostics = diagnostics
  }

  /// Whether a request is for a voice server.
  static func isAsked(_ head: RequestHead) -> Bool { head.path.utf8.starts(with: "/riff/".utf8) }

  /// What becomes of a request's body.
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
    RiffSecret.isSignature(head["x-riff-secret"]) ? nil : .unsigned
  }

  /// The answer to a request.
  func answer(_ head: RequestHead, _ body: RequestBody) async -> WholeAnswer {
    let endpoint = endpoint(head)
    guard let signature = head["x-riff-secret"], RiffSecret.isSignature(signature) else {
      return .unsigned
    }
    // What was not kept cannot be compared with its signature.
    guard case .whole(let bytes) = body else {
      return endpoint == .message ? .longMessage : .tooLarge
    }
    guard secret.signs(bytes, as: signature) else { return .unsigned }
    do {
      let query = QueryParameters(head.query)
      switch endpoint {
      case .transcribe: return await transcribe(head, bytes, signature)
      case .audio: return try await talk(head, clip: bytes, signature)
      case .message: return try await talk(head, message: bytes, signature)
      case .conversation: return try await conversation(query)
      case .sessions: return try await sessions(query)
      case .narrate: return await narrate(query)
      case .health: return health
      case nil: return .noSuchMethod
      }
    } catch {
      diagnostics.errorRarely(head.path, ErrorText.of(error))
      return .error(ErrorText.of(error), status: 500)
    }
  }

  /// Ends what is under way.
  func stop() async {
    async let clips: Void? = parts.transcriber?.stop()
    async let turns: Void? = parts.narrator?.stop()
    _ = await (clips, turns)
  }

  private func endpoint(_ head: RequestHead) -> RiffEndpoint? {
    let method = head.method == "HEAD" ? "GET" : head.method
    return RiffEndpoint(rawValue: head.path).flatMap { $0.method == method ? $0 : nil }
  }

  private var health: WholeAnswer {
    .json(
      RecordText().bool("ok", true).number("ts", Timestamp.now().epoch)
        .bool("transcriber", parts.transcriber != nil).bool("replies", parts.gateway != nil)
        .bool("speaker", parts.narrator != nil))
  }
}

/// What a voice server works with.
struct RiffParts: Sendable {
  /// Holds what was said.
  let store: ActionStore
  /// Hears clips; nil for none.
  let transcriber: Transcriber?
  /// Replies; nil where nothing does.
  let gateway: Gateway?
  /// Reads turns aloud; nil for none.
  let narrator: Narrator?
}

extension WholeAnswer {
  /// A request without a good signature.
  fileprivate static let unsigned = error("unauthorized", status: 401)
  /// More than a message may be; the contract knows no other word for it.
  fileprivate static let longMessage = error(
    "larger than \(RiffEndpoint.message.limit) bytes", status: 400)
}

extension Timestamp {
  /// Seconds since 1970, to the millisecond.
  var epoch: Double { Double(milliseconds) / 1000 }
}
