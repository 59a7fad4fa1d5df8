import Core

/// Everything that requests work on.
struct Backend: Sendable {
  /// Reads.
  let store: ActionStore
  /// Writes.
  let log: ActionLog
  /// Counts.
  let stats: StatsKeeper
  /// Delivers.
  let hub: Hub
  /// Open requests.
  let tickets: Tickets
  /// What requests must carry, nil for a server that is open to its machine.
  let token: AccessToken?
  /// Where a subscriber's backlog ends, bytes.
  let backlogLimit: Int
  /// Says what is worth knowing.
  let diagnostics: Diagnostics

  /// Whether a request may ask for what it asks: all under /api needs the token.
  func allows(_ head: RequestHead) -> Bool {
    guard head.path == "/api" || head.path.hasPrefix("/api/") else { return true }
    return token?.matches(head["x-dashboard-token"]) ?? true
  }

  /// Whether a request, if it is allowed, opens the activity stream.
  func opensStream(_ head: RequestHead) -> Bool {
    head.method == "GET" && head.path == "/api/activity/events"
  }

  /// Whether a request's body is of interest.
  func wantsBody(_ head: RequestHead) -> Bool {
    head.method == "POST" && head.path == "/api/actions" && allows(head)
  }

  /// The answer to a request; faults of the store are answered too.
  func answer(_ head: RequestHead, body: RequestReader.Body) async -> Answer {
    guard allows(head) else { return .unauthorized }
    guard case .whole(let bytes) = body else { return .tooLarge }
    do {
      return try await answer(head, bytes)
    } catch {
      diagnostics.error(head.path, Server.reason(error))
      return .error(Server.reason(error), status: 500)
    }
  }

  private func answer(_ head: RequestHead, _ body: [UInt8]) async throws -> Answer {
    let isGet = head.method == "GET" || head.method == "HEAD"
    switch head.path {
    case "/api/health" where isGet: return .json("{\"ok\":true}")
    case "/api/stats" where isGet: return try await statistics(QueryText(head.query))
    case "/api/actions" where isGet:
      let actions = try await store.actions(ActionQuery(QueryText(head.query), now: .now()))
      return .json(ActionEncoder.rows(actions))
    case "/api/actions" where head.method == "POST":
      // A page that a browser shows may send a plain POST anywhere; only a
      // token, which it cannot send unasked, stands against that.
      if token == nil && head["origin"] != nil { return .foreignOrigin }
      return try await post(body, type: head["content-type"] ?? "")
    case "/api/activity/events" where head.method == "HEAD":
      return Answer(status: 200, type: "text/event-stream", body: [])
    default: return isGet ? .noSuchPath : .noSuchMethod
    }
  }

  private func statistics(_ query: QueryText) async throws -> Answer {
    let now = Timestamp.now()
    let guild = (query["guildId"] ?? "").trimmingBlanks()
    if guild.isEmpty { return .json(stats.json(now: now)) }
    let book = try await store.read { try StatsBook.load($0, guild: guild, now: now) }
    return .json(stats.json(guild: book, now: now))
  }
}
