import Core

/// What one of the two streams consists of.
struct ServedFeed: Sendable {
  /// What a client gets first: a frame or none, and the newest action that it
  /// then has.
  typealias Opening =
    @Sendable (_ resumeAfter: Int64?) async throws -> (
      frame: Frame?, cursor: Int64
    )

  /// Delivers what is live.
  let hub: Hub
  /// Holds what was missed.
  let store: ActionStore
  /// What the kinds of its actions begin with, empty for all.
  let kinds: String
  /// An action as an event.
  let frame: @Sendable (StoredAction) -> Frame
  /// The beginning.
  let opening: Opening
}

extension ServedBackend {
  /// All actions, beginning with a snapshot unless the client resumes.
  var activity: ServedFeed {
    let opening: ServedFeed.Opening = { resume in
      if let resume { return (nil, resume) }
      let (actions, newest) = try await store.snapshot(limit: 220)
      return (.snapshot(actions, newestID: newest, stats: stats.json(now: .now())), newest)
    }
    return ServedFeed(
      hub: streams.activity, store: store, kinds: "", frame: { Frame.action($0) }, opening: opening)
  }

  /// The actions of voice sessions, beginning with the voice state in any case.
  var voice: ServedFeed {
    let opening: ServedFeed.Opening = { resume in
      let newest = try await store.newestID()
      let state = documents.line(.voiceState)
      // With an id from which nothing would be missed; who resumes right now has
      // not yet got what it missed, and keeps its own.
      if let resume { return (.voiceState(state), resume) }
      return (.voiceState(state, newestID: newest), newest)
    }
    return ServedFeed(
      hub: streams.voice, store: store, kinds: Streams.voiceKinds, frame: { Frame.voice($0) },
      opening: opening)
  }

  /// The feed that a request asks for, nil when it asks for none.
  func feed(_ path: String) -> ServedFeed? {
    switch path {
    case "/api/activity/events": activity
    case "/api/voice/events": voice
    default: nil
    }
  }
}
