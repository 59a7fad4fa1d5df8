import Core

extension ServedBackend {
  /// Answers what is asked of the agent beside its actions and its voice; nil for
  /// any other path.
  func readHome(_ head: RequestHead, _ query: QueryParameters) async throws -> WholeAnswer? {
    switch head.path {
    case "/api/guilds": return .json(Guilds(documents.bytes(.guilds)).json)
    case "/api/automations":
      return Automations.list(query, documents.bytes(.automations))
    case "/api/automations/runs":
      return Automations.runs(
        query, documents.bytes(.automationRuns), of: documents.bytes(.automations))
    case "/api/agents/browser-sessions":
      let sessions = BrowserSessions(query, now: .now())
      return .json(try await store.read { try sessions.json($0) })
    case "/api/public-https": return .json(documents.bytes(.publicHTTPS))
    case "/api/llm/models": return .json(documents.bytes(.models))
    default:
      guard let guild = head.segment(after: "/api/guilds/", before: "/channels") else { return nil }
      return .json(Guilds(documents.bytes(.guilds)).channels(of: guild))
    }
  }
}
