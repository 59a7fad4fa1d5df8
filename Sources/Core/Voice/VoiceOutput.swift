/// What the bot's own voice does.
public struct VoiceOutput: Sendable {
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  public let phase: String?
  public let reason: String?, lastTrigger: String?
  public let phaseEnteredAt: Timestamp?
  public let requestId: String?
  /// `idle` or `buffered`.
  public let ttsPlaybackState: String?
  public let ttsBufferedSamples: Int?

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
public struct VoicePlaybackArm: Sendable {
  public let armed: Bool?
  public let reason: String?
  public let armedAt: Timestamp?

  init(_ value: JSONValue) {
    armed = value.bool("armed")
    reason = value.text("reason")
    armedAt = value.time("armedAt")
  }
}

/// What was played of the soundboard.
public struct VoiceSoundboard: Sendable {
  public let playCount: Int
  public let lastPlayedAt: Timestamp?

  init(_ value: JSONValue) {
    playCount = value.int("playCount") ?? 0
    lastPlayedAt = value.time("lastPlayedAt")
  }
}
