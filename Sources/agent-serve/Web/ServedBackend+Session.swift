import Core

extension ServedBackend {
  /// Answers what is asked of voice sessions, those that are up and those that
  /// are over; nil for any other path.
  func readSession(_ head: RequestHead, _ query: QueryParameters) async throws -> WholeAnswer? {
    switch head.path {
    case "/api/voice/state": return .json(documents.bytes(.voiceState))
    case "/api/voice/asr-sessions": return .json(voicePanels.asrSessions(now: .now()))
    case "/api/voice/tool-events": return .json(voicePanels.toolEvents)
    case "/api/mcp/status": return .json(voicePanels.mcpStatus)
    case "/api/voice/history/sessions":
      let history = VoiceHistory(
        limit: query.integer("limit", default: 100, in: 1...200), since: query.since(now: .now()),
        guild: query.word("guildId"))
      return .json(try await store.read { try history.sessions($0) })
    default:
      guard
        let session = head.segment(after: "/api/voice/history/sessions/", before: "/events")
      else { return nil }
      return .json(
        ActionEncoder.rows(try await store.read { try VoiceHistory.events(session, $0) }))
    }
  }

  private var voicePanels: VoicePanels { VoicePanels(documents.bytes(.voiceState)) }
}
