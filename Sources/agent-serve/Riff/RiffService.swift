import Core
import Records

/// The endpoints of a voice server, under `/riff/` (Agent/Riff/CONTRACT.md).
struct RiffService: Sendable {
  /// How many clips may be on their way or worked on.
  private static let clipLimit = 16

  let secret: RiffSecret
  let transcriber: Transcriber?
  let diagnostics: Diagnostics
  let kept = KeptAnswers()
  private let clips = Tickets(limit: clipLimit)

  /// - Parameters:
  ///   - secret: what requests are signed with.
  ///   - transcriber: hears clips; nil for none.
  ///   - diagnostics: says what fails.
  init(_ secret: RiffSecret, transcriber: Transcriber?, diagnostics: Diagnostics) {
    self.secret = secret
    self.transcriber = transcriber
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
    switch endpoint(head) {
    case .transcribe: return await transcribe(head, bytes, signature)
    case .health: return health
    case nil: return head.method == "GET" ? .noSuchPath : .noSuchMethod
    }
  }

  /// Ends what is under way.
  func stop() async {
    await transcriber?.stop()
  }

  private func endpoint(_ head: RequestHead) -> RiffEndpoint? {
    RiffEndpoint(rawValue: head.path).flatMap { $0.method == head.method ? $0 : nil }
  }

  private var health: WholeAnswer {
    .json(
      RecordText().bool("ok", true).number("ts", Int(Timestamp.now().seconds))
        .bool("transcriber", transcriber != nil))
  }

  // MARK: - Clips

  private func transcribe(
    _ head: RequestHead, _ clip: [UInt8], _ signature: String
  ) async -> WholeAnswer {
    // No two recordings are alike: the same bytes are the same one.
    await hear(head, clip, key: "clip \(signature)") { text in
      .json(RecordText().string("transcript", text))
    }
  }

  /// Has a clip heard, unless it was before.
  ///
  /// - Parameters:
  ///   - key: what makes it the same request.
  ///   - answer: makes the answer of what was said.
  private func hear(
    _ head: RequestHead, _ clip: [UInt8], key: String,
    _ answer: @escaping @Sendable (String) async -> WholeAnswer
  ) async -> WholeAnswer {
    if clip.isEmpty { return .error("empty clip", status: 400) }
    guard let transcriber else { return .error("no transcriber", status: 503) }
    let format = head["x-riff-audio-format"]
    return await kept.answer(key) {
      switch await transcriber.hear(clip, format: format) {
      case .text(let text): return await answer(text)
      case .busy: return .busy
      case .failed(let reason):
        diagnostics.error("transcriber", reason)
        return .error("the transcriber failed: \(reason)", status: 502)
      }
    }
  }
}

extension WholeAnswer {
  /// A request without a good signature.
  fileprivate static let unsigned = error("unauthorized", status: 401)
  /// More is asked for than can be done at a time.
  static let busy = WholeAnswer.error("too busy", status: 503).retrying(after: 2)
}
