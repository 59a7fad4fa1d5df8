import Core

/// What the bot's own voice does.
struct VoiceOutput: Sendable {
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  let phase: String?
  let reason: String?, lastTrigger: String?
  let phaseEnteredAt: Timestamp?
  let requestId: String?
  /// `idle` or `buffered`.
  let ttsPlaybackState: String?
  let ttsBufferedSamples: Int?

  init(_ value: JSONValue) {
    phase = value.text("phase")
    reason = value.text("reason")
    lastTrigger = value.text("lastTrigger")
    phaseEnteredAt = value.time("phaseEnteredAt")
    requestId = value.text("requestId")
    ttsPlaybackState = value.text("ttsPlaybackState")
    ttsBufferedSamples = value.int("ttsBufferedSamples")
  }
}

/// Whether the bot is ready to play sound.
struct VoicePlaybackArm: Sendable {
  let armed: Bool?
  let reason: String?
  let armedAt: Timestamp?

  init(_ value: JSONValue) {
    armed = value.bool("armed")
    reason = value.text("reason")
    armedAt = value.time("armedAt")
  }
}

/// What was played of the soundboard.
struct VoiceSoundboard: Sendable {
  let playCount: Int
  let lastPlayedAt: Timestamp?

  init(_ value: JSONValue) {
    playCount = value.int("playCount") ?? 0
    lastPlayedAt = value.time("lastPlayedAt")
  }
}
