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
      if guild.trimmingBlanks().isEmpty {
        return .json(#"{"error":"guildId is required"}"#, status: 400)
      }
      return .json(Guilds(documents.bytes(.guilds)).channels(of: guild))
    }
  }
}

extension ServedFeed {
  /// All actions, beginning with a snapshot unless the client resumes.
  static func activity(_ hub: Hub, _ store: ActionStore, _ stats: StatsKeeper) -> ServedFeed {
    let snapshot = SharedSnapshot()
    return ServedFeed(hub: hub, store: store, kinds: "", frame: Frame.action) { resume in
      if let resume { return ([], resume) }
      let (head, newest) = try await snapshot.piece(store, version: stats.version)
      return ([head, try SharedPiece(Frame.snapshotTail(stats: stats.json(now: .now())))], newest)
    }
  }

  /// The actions of voice sessions, beginning with the voice state in any case.
  static func voice(_ hub: Hub, _ store: ActionStore, _ documents: Documents) -> ServedFeed {
    ServedFeed(hub: hub, store: store, kinds: Streams.voiceKinds, frame: Frame.voice) { resume in
      let newest = try await store.newestID()
      let state = documents.line(.voiceState)
      // With an id from which nothing would be missed; who resumes right now has
      // not yet got what it missed, and keeps its own.
      if let resume { return ([try SharedPiece(Frame.voiceState(state).bytes)], resume) }
      return ([try SharedPiece(Frame.voiceState(state, newestID: newest).bytes)], newest)
    }
  }
}

extension ServedBackend {
  /// The feed that a request asks for, nil when it asks for none.
  func feed(_ path: String) -> ServedFeed? {
    switch path {
    case "/api/activity/events": activity
    case "/api/voice/events": voice
    default: nil
    }
  }
}
