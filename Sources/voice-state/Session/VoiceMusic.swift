import Core

/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
struct VoiceMusic: Sendable {
  /// A track that a search found.
  struct Result: Sendable {
    let id: String?, title: String?, artist: String?, platform: String?
    let externalUrl: String?
    let durationSeconds: Double?

    init(_ value: JSONValue) {
      id = value.text("id")
      title = value.text("title")
      artist = value.text("artist")
      platform = value.text("platform")
      externalUrl = value.text("externalUrl")
      durationSeconds = value.double("durationSeconds")
    }
  }

  /// The tracks that wait.
  struct Queue: Sendable {
    /// A track in the queue.
    struct Track: Sendable {
      let id: String?, title: String?, artist: String?, source: String?

      init(_ value: JSONValue) {
        id = value.text("id")
        title = value.text("title")
        artist = value.text("artist")
        source = value.text("source")
      }
    }

    let tracks: [Track]
    let nowPlayingIndex: Int?
    let isPaused: Bool?
    /// 0 to 1.
    let volume: Double?

    init(_ value: JSONValue) {
      tracks = value.list(Track.init, "tracks")
      nowPlayingIndex = value.int("nowPlayingIndex")
      isPaused = value.bool("isPaused")
      volume = value.double("volume")
    }
  }

  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  let phase: String?
  let active: Bool
  let pauseReason: String?
  let replyHandoffMode: String?, replyHandoffRequestedByUserId: String?
  let replyHandoffSource: String?
  let replyHandoffAt: Timestamp?
  let provider: String?, source: String?
  let startedAt: Timestamp?, stoppedAt: Timestamp?
  let lastTrackId: String?, lastTrackTitle: String?
  let lastTrackArtists: [String]
  let lastTrackUrl: String?, lastPlaybackUrl: String?
  let lastQuery: String?, lastRequestedByUserId: String?, lastRequestText: String?
  let lastCommandAt: Timestamp?
  let lastCommandReason: String?
  let pendingQuery: String?, pendingPlatform: String?, pendingRequestedByUserId: String?
  let pendingRequestedAt: Timestamp?
  let pendingResults: [Result]
  let disambiguationActive: Bool
  let queueState: Queue?

  init(_ value: JSONValue) {
    phase = value.text("phase")
    active = value.bool("active") ?? false
    pauseReason = value.text("pauseReason")
    replyHandoffMode = value.text("replyHandoffMode")
    replyHandoffRequestedByUserId = value.text("replyHandoffRequestedByUserId")
    replyHandoffSource = value.text("replyHandoffSource")
    replyHandoffAt = value.time("replyHandoffAt")
    provider = value.text("provider")
    source = value.text("source")
    startedAt = value.time("startedAt")
    stoppedAt = value.time("stoppedAt")
    lastTrackId = value.text("lastTrackId")
    lastTrackTitle = value.text("lastTrackTitle")
    lastTrackArtists = value.texts("lastTrackArtists")
    lastTrackUrl = value.text("lastTrackUrl")
    lastPlaybackUrl = value.text("lastPlaybackUrl")
    lastQuery = value.text("lastQuery")
    lastRequestedByUserId = value.text("lastRequestedByUserId")
    lastRequestText = value.text("lastRequestText")
    lastCommandAt = value.time("lastCommandAt")
    lastCommandReason = value.text("lastCommandReason")
    pendingQuery = value.text("pendingQuery")
    pendingPlatform = value.text("pendingPlatform")
    pendingRequestedByUserId = value.text("pendingRequestedByUserId")
    pendingRequestedAt = value.time("pendingRequestedAt")
    pendingResults = value.list(Result.init, "pendingResults")
    disambiguationActive = value.bool("disambiguationActive") ?? false
    queueState = value.part(Queue.init, "queueState")
  }
}
