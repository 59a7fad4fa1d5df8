import Core
import Records

/// The endpoints of a voice server, under `/riff/` (Agent/Riff/CONTRACT.md).
struct RiffService: Sendable {
  /// How many clips may be on their way or worked on, and how many may wait for turns.
  private static let (clipLimit, listenerLimit) = (16, 32)

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
  private let clips = Tickets(limit: clipLimit)

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
    var plan = BodyPlan(limit: 0, patience: 0)
    if head.framing == .length(0) { return plan }
    guard RiffSecret.isSignature(head["x-riff-secret"]) else {
      plan.refusal = .unsigned
      return plan
    }
    guard let endpoint = endpoint(head) else {
      plan.refusal = .noSuchMethod
      return plan
    }
    plan = BodyPlan(keeps: true, limit: endpoint.limit, patience: endpoint.limit)
    if endpoint.takesClip {
      // What a clip is worth is known when all of it is there.
      plan.place = clips.take()
      if plan.place == nil { plan.refusal = .busy }
    }
    return plan
  }

  /// The answer to a request.
  func answer(_ head: RequestHead, _ body: RequestBody) async -> WholeAnswer {
    guard case .whole(let bytes) = body else { return .tooLarge }
    let signature = head["x-riff-secret"]
    guard let signature, secret.signs(bytes, as: signature) else { return .unsigned }
    do {
      let query = QueryParameters(head.query)
      switch endpoint(head) {
      case .transcribe: return await transcribe(head, bytes, signature)
      case .audio: return try await talk(head, clip: bytes, signature)
      case .message: return try await talk(head, message: bytes, signature)
      case .conversation: return try await conversation(query)
      case .sessions: return try await sessions(query)
      case .narrate: return await narrate(query)
      case .health: return health
      case nil: return head.method == "GET" ? .noSuchPath : .noSuchMethod
      }
    } catch {
      diagnostics.error(head.path, ErrorText.of(error))
      return .error(ErrorText.of(error), status: 500)
    }
  }

  /// Ends what is under way.
  func stop() async {
    await parts.transcriber?.stop()
    await parts.narrator?.stop()
  }

  private func endpoint(_ head: RequestHead) -> RiffEndpoint? {
    RiffEndpoint(rawValue: head.path).flatMap { $0.method == head.method ? $0 : nil }
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
  /// More is asked for than can be done at a time.
  static let busy = WholeAnswer.error("too busy", status: 503).retrying(after: 2)
}

extension Timestamp {
  /// Seconds since 1970, to the millisecond.
  var epoch: Double { Double(milliseconds) / 1000 }
}
