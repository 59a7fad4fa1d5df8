import Core

/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
struct VoiceMusic: Sendable {
  /// A track that a search found.
  struct Result: Sendable {
    let id: String?, title: String?, artist: String?, platform: String?
    let durationSeconds: Double?

    init(_ value: JSONValue) {
      id = value.text("id")
      title = value.text("title")
      artist = value.text("artist")
      platform = value.text("platform")
      durationSeconds = value.double("durationSeconds")
    }
  }

  /// The tracks that wait.
  struct Queue: Sendable {
    /// A track in the queue.
    struct Track: Sendable {
      let id: String?, title: String?, artist: String?

      init(_ value: JSONValue) {
        id = value.text("id")
        title = value.text("title")
        artist = value.text("artist")
      }
    }

    let tracks: [Track]
    let nowPlayingIndex: Int?
    /// 0 to 1.
    let volume: Double?

    init(_ value: JSONValue) {
      tracks = value.list(Track.init, "tracks")
      nowPlayingIndex = value.int("nowPlayingIndex")
      volume = value.double("volume")
    }
  }

  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  var phase: String?
  var active = false
  var pauseReason: String?
  var replyHandoffMode: String?
  var provider: String?, source: String?
  var startedAt: Timestamp?, stoppedAt: Timestamp?
  var lastTrackTitle: String?
  var lastTrackArtists: [String] = []
  var lastQuery: String?, lastRequestedByUserId: String?, lastRequestText: String?
  var lastCommandReason: String?
  var pendingQuery: String?, pendingPlatform: String?, pendingRequestedByUserId: String?
  var pendingRequestedAt: Timestamp?
  var pendingResults: [Result] = []
  var disambiguationActive = false
  var queueState: Queue?
}

extension VoiceMusic {
  init(_ value: JSONValue) {
    phase = value.text("phase")
    active = value.bool("active") ?? false
    pauseReason = value.text("pauseReason")
    replyHandoffMode = value.text("replyHandoffMode")
    provider = value.text("provider")
    source = value.text("source")
    startedAt = value.time("startedAt")
    stoppedAt = value.time("stoppedAt")
    lastTrackTitle = value.text("lastTrackTitle")
    lastTrackArtists = value.texts("lastTrackArtists")
    lastQuery = value.text("lastQuery")
    lastRequestedByUserId = value.text("lastRequestedByUserId")
    lastRequestText = value.text("lastRequestText")
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

/// What was played of the soundboard.
struct VoiceSoundboard: Sendable {
  var playCount = 0
  var lastPlayedAt: Timestamp?
}

extension VoiceSoundboard {
  init(_ value: JSONValue) {
    playCount = value.int("playCount") ?? 0
    lastPlayedAt = value.time("lastPlayedAt")
  }
}
