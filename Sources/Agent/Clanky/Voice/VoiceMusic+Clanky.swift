import Core

extension VoiceMusic.Result {
  init(_ value: JSONValue) {
    id = value.text("id")
    title = value.text("title")
    artist = value.text("artist")
    platform = value.text("platform")
    durationSeconds = value.double("durationSeconds")
  }
}

extension VoiceMusic.Queue.Track {
  init(_ value: JSONValue) {
    id = value.text("id")
    title = value.text("title")
    artist = value.text("artist")
  }
}

extension VoiceMusic.Queue {
  init(_ value: JSONValue) {
    tracks = value.list(Track.init, "tracks")
    nowPlayingIndex = value.int("nowPlayingIndex")
    volume = value.double("volume")
  }
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

extension VoiceSoundboard {
  init(_ value: JSONValue) {
    playCount = value.int("playCount") ?? 0
    lastPlayedAt = value.time("lastPlayedAt")
  }
}
