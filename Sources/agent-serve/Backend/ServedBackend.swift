import Core
import Records

/// Everything that requests work on.
struct ServedBackend: Sendable {
  /// Reads.
  let store: ActionStore
  /// Writes.
  let log: ActionLog
  /// Counts.
  let stats: StatsKeeper
  /// What the agent told as a whole.
  let documents: Documents
  /// The agent's durable memory.
  let memory: ServedMemory
  /// Deliver.
  let streams: Streams
  /// All actions, as a stream.
  let activity: ServedFeed
  /// Those of voice sessions.
  let voice: ServedFeed
  /// Open requests.
  let tickets: Tickets
  /// The connections that requests come on.
  let connections: Connections
  /// The voice server; nil for none.
  let riff: RiffService?
  /// What the server may be called, nil for anything.
  let names: ServedNames?
  /// What requests must carry, nil for a server that is open to its machine.
  let token: AccessToken?
  /// Where a subscriber's backlog ends, bytes.
  let backlogLimit: Int
  /// Says what is worth knowing.
  let diagnostics: Diagnostics

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer? {
    if let riff, RiffService.isAsked(head) { return riff.refusal(of: head) }
    if let refusal = accessRefusal(of: head) { return refusal }
    if head.method == "GET" || head.method == "HEAD" { return nil }
    guard write(of: head) != nil else {
      return head.isMethodKnown ? .noSuchMethod : .unknownMethod
    }
    // A page that a browser shows may send a plain POST anywhere; only a
    // token, which it cannot send unasked, stands against that.
    return token == nil && head["origin"] != nil ? .foreignOrigin : nil
  }

  /// Why a request may not ask for what it asks, nil when it may: it names this
  /// server, and all under /api needs the token.
  func accessRefusal(of head: RequestHead) -> WholeAnswer? {
    if let names, !names.contains(head.authority) { return .misdirected }
    guard let token, head.isOfAPI else { return nil }
    return token.matches(head["x-dashboard-token"]) ? nil : .unauthorized
  }

  /// What becomes of a request's body.
  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    if let riff, RiffService.isAsked(head) { return riff.bodyPlan(head) }
    guard refusal(of: head) == nil else { return BodyPlan() }
    return BodyPlan(keeps: write(of: head) != nil, share: BodyPlan.budget.share())
  }

  /// The answer to a request; faults of the store are answered too.
  func answer(_ head: RequestHead, body: RequestBody) async -> WholeAnswer {
    // Its requests are signed, which no page of a browser can do, whatever it calls us.
    if let riff, RiffService.isAsked(head) { return await riff.answer(head, body) }
    if let refusal = accessRefusal(of: head) { return refusal }
    guard case .whole(let bytes) = body.behindMark else { return .tooLarge }
    if let refusal = refusal(of: head) { return refusal }
    do {
      return try await answer(head, bytes)
    } catch {
      diagnostics.errorRarely(head.path, ErrorText.of(error))
      return .error(ErrorText.of(error), status: 500)
    }
  }

  private func answer(_ head: RequestHead, _ body: [UInt8]) async throws -> WholeAnswer {
    if head.method == "GET" || head.method == "HEAD" { return try await read(head) ?? .noSuchPath }
    guard let write = write(of: head) else { return .noSuchMethod }
    switch write {
    case .actions: return try await post(body, type: head["content-type"] ?? "")
    case .join: return try await join(body, type: head["content-type"] ?? "")
    case .document(let document): return try await put(document, body)
    case .memory(let write):
      return try await memory.answer(
        write, body, type: head["content-type"] ?? "", log: log,
        voice: documents.bytes(.voiceState))
    }
  }

  /// What changes something.
  private enum Write {
    case actions
    case join
    case document(Document)
    case memory(ServedMemory.Write)
  }

  private func write(of head: RequestHead) -> Write? {
    switch (head.method, head.path) {
    case ("POST", "/api/actions"): .actions
    case ("POST", "/api/voice/join"): .join
    case ("PUT", let path) where Document(path: path) != nil:
      Document(path: path).map(Write.document)
    default: ServedMemory.Write(head).map(Write.memory)
    }
  }

  private func read(_ head: RequestHead) async throws -> WholeAnswer? {
    let query = QueryParameters(head.query)
    switch head.path {
    case "/api/health": return .healthy
    case "/api/stats": return try await statistics(query)
    case "/api/actions":
      let actions = try await store.actions(ActionQuery(query, now: .now()))
      return .json(ActionEncoder.rows(actions))
    case "/api/actions/count":
      let count = try await store.count(ActionQuery(counting: query, now: .now()))
      return .json(RecordText().number("count", Int(count)))
    case "/api/activity/events", "/api/voice/events":
      // Of a HEAD; a GET is a stream.
      return WholeAnswer(status: 200, type: "text/event-stream", body: [], isStream: true)
    default:
      if let answer = try await memory.read(head.path, query, voice: documents.bytes(.voiceState)) {
        return answer
      }
      if let answer = try await readSession(head, query) { return answer }
      return try await readHome(head, query)
    }
  }

  private func statistics(_ query: QueryParameters) async throws -> WholeAnswer {
    let now = Timestamp.now()
    guard let guild = query.word("guildId") else { return .json(stats.json(now: now)) }
    let costs = stats.costs(of: guild)
    let book = try await store.read {
      try StatsBook.load($0, guild: (guild, costs), now: now)
    }
    return .json(stats.json(guild: book, now: now))
  }
}
