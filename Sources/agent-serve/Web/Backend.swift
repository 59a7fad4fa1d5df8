import Core
import FlyingFox

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
}

extension Backend: HTTPHandler {
  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let ticket = tickets.take() else { throw HTTPUnhandledError() }
    let isHead = request.method == .HEAD
    let path = request.target.path()
    let isPrivate = path == "/api" || path.hasPrefix("/api/")
    let isAllowed = !isPrivate || token?.matches(request.headers[Self.tokenHeader]) ?? true
    let isPost = request.method == .POST && path == "/api/actions" && isAllowed
    let body = await RequestBody.read(request, keeps: isPost)
    if isAllowed, request.method == .GET, path == "/api/activity/events" {
      if let stream = try await activity(request) { return stream }
    }
    var answer: Answer
    do {
      answer =
        isAllowed ? try await self.answer(request, path: path, body: body) : .unauthorized
    } catch {
      diagnostics.error(path, Server.reason(error))
      answer = .error(Server.reason(error), status: 500)
    }
    if case .tooLarge(isDrained: false) = body { answer.closes = true }
    if case .broken = body { answer.closes = true }
    return answer.response(isHead: isHead, ticket: ticket)
  }

  private static let tokenHeader = HTTPHeader("x-dashboard-token")

  private func answer(
    _ request: HTTPRequest, path: String, body: RequestBody.Outcome
  ) async throws -> Answer {
    if case .tooLarge = body { return .tooLarge }
    let isGet = request.method == .GET || request.method == .HEAD
    let query = QueryText(request.target.query())
    switch path {
    case "/api/health" where isGet: return .json("{\"ok\":true}")
    case "/api/stats" where isGet: return try await statistics(query)
    case "/api/actions" where isGet:
      let actions = try await store.actions(ActionQuery(query, now: .now()))
      return .json(ActionEncoder.rows(actions))
    case "/api/actions" where request.method == .POST:
      // A page that a browser shows may send a plain POST anywhere; only a
      // token, which it cannot send unasked, stands against that.
      if token == nil && request.headers[HTTPHeader("Origin")] != nil { return .foreignOrigin }
      guard case .whole(let bytes) = body else { return .error("body_incomplete", status: 400) }
      return try await post(bytes, type: request.headers[.contentType] ?? "")
    case "/api/activity/events" where request.method == .HEAD:
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
