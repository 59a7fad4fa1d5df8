import Core

/// What a session is doing, in the one word that the web dashboard shows.
enum VoiceActivity: String, CaseIterable, Sendable {
  case speaking, processing, listening, disconnected, idle

  /// The word with a capital: `Speaking`.
  var word: String {
    switch self {
    case .speaking: "Speaking"
    case .processing: "Processing"
    case .listening: "Listening"
    case .disconnected: "Disconnected"
    case .idle: "Idle"
    }
  }
}

extension VoiceSession {
  /// The first that holds: the bot's turn is open, turns wait for recognition or
  /// an answer, someone speaks, the provider's link is down, nothing.
  var activity: VoiceActivity {
    if botTurnOpen { return .speaking }
    if (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) > 0 { return .processing }
    if activeInputStreams > 0 { return .listening }
    return realtime?.state?.connected == false ? .disconnected : .idle
  }

  /// Turns that wait anywhere: for recognition, for the provider, put off.
  var pendingTurns: Int {
    (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) + pendingDeferredTurns
  }

  /// The mode in the dashboard's words: `OpenAI RT`; an unknown mode as sent.
  var modeLabel: String? {
    switch mode {
    case "voice_agent": "Voice Agent"
    case "openai_realtime": "OpenAI RT"
    case "gemini_realtime": "Gemini RT"
    case "elevenlabs_realtime": "ElevenLabs API"
    case "xai_realtime": "xAI RT"
    default: mode
    }
  }

  /// Whether the bot takes what is said as meant for it: `conversation.wake`,
  /// else within 35 s of its reply or of a direct address.
  ///
  /// - Parameter now: the time of the state.
  func isAwake(at now: Timestamp) -> Bool {
    if let active = conversation?.wake?.active { return active }
    return [conversation?.lastAssistantReplyAt, conversation?.lastDirectAddressAt].contains {
      guard let time = $0 else { return false }
      return now < time.adding(.seconds(35))
    }
  }

  /// The display name of a person of the session.
  ///
  /// - Parameter userId: nil has no name.
  /// - Returns: nil when the session does not tell.
  func name(of userId: String?) -> String? {
    guard let userId else { return nil }
    return participants.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? activeCaptures.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? asrSessions.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? membershipEvents.last { $0.userId == userId && $0.displayName != nil }?.displayName
  }
}
