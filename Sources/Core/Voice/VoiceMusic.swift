/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
public struct VoiceMusic: Sendable {
  /// A track that a search found.
  public struct Result: Sendable {
    public let id: String?, title: String?, artist: String?, platform: String?
    public let externalUrl: String?
    public let durationSeconds: Double?

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
  public struct Queue: Sendable {
    /// A track in the queue.
    public struct Track: Sendable {
      public let id: String?, title: String?, artist: String?, source: String?

      init(_ value: JSONValue) {
        id = value.text("id")
        title = value.text("title")
        artist = value.text("artist")
        source = value.text("source")
      }
    }

    public let tracks: [Track]
    public let nowPlayingIndex: Int?
    public let isPaused: Bool?
    /// 0 to 1.
    public let volume: Double?

    init(_ value: JSONValue) {
      tracks = value.list(Track.init, "tracks")
      nowPlayingIndex = value.int("nowPlayingIndex")
      isPaused = value.bool("isPaused")
      volume = value.double("volume")
    }
  }

  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  public let phase: String?
  public let active: Bool
  public let pauseReason: String?
  public let replyHandoffMode: String?, replyHandoffRequestedByUserId: String?
  public let replyHandoffSource: String?
  public let replyHandoffAt: Timestamp?
  public let provider: String?, source: String?
  public let startedAt: Timestamp?, stoppedAt: Timestamp?
  public let lastTrackId: String?, lastTrackTitle: String?
  public let lastTrackArtists: [String]
  public let lastTrackUrl: String?, lastPlaybackUrl: String?
  public let lastQuery: String?, lastRequestedByUserId: String?, lastRequestText: String?
  public let lastCommandAt: Timestamp?
  public let lastCommandReason: String?
  public let pendingQuery: String?, pendingPlatform: String?, pendingRequestedByUserId: String?
  public let pendingRequestedAt: Timestamp?
  public let pendingResults: [Result]
  public let disambiguationActive: Bool
  public let queueState: Queue?

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
