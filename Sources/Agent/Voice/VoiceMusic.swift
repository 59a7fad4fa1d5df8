package import Core

/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
package struct VoiceMusic: Sendable {
  /// A track that a search found.
  package struct Result: Sendable {
    package let id: String?, title: String?, artist: String?, platform: String?
    package let durationSeconds: Double?
  }

  /// The tracks that wait.
  package struct Queue: Sendable {
    /// A track in the queue.
    package struct Track: Sendable {
      package let id: String?, title: String?, artist: String?
    }

    package let tracks: [Track]
    package let nowPlayingIndex: Int?
    /// 0 to 1.
    package let volume: Double?
  }

  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  package var phase: String?
  package var active = false
  package var pauseReason: String?
  package var replyHandoffMode: String?
  package var provider: String?, source: String?
  package var startedAt: Timestamp?, stoppedAt: Timestamp?
  package var lastTrackTitle: String?
  package var lastTrackArtists: [String] = []
  package var lastQuery: String?, lastRequestedByUserId: String?, lastRequestText: String?
  package var lastCommandReason: String?
  package var pendingQuery: String?, pendingPlatform: String?, pendingRequestedByUserId: String?
  package var pendingRequestedAt: Timestamp?
  package var pendingResults: [Result] = []
  package var disambiguationActive = false
  package var queueState: Queue?

  /// Nothing that plays.
  package init() {}
}

/// What was played of the soundboard.
package struct VoiceSoundboard: Sendable {
  package var playCount = 0
  package var lastPlayedAt: Timestamp?

  /// Nothing yet.
  package init() {}
}
