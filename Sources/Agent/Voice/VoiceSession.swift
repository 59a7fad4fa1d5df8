package import Core

/// One voice session with everything of it that is shown: what its last state
/// said, and what events have changed since.
///
/// This folder has no CONTRACT.md: no wire is read here. What a backend says, and in which
/// words, stands in its own; its folder `Voice` makes these values of it.
///
/// Ages and durations are milliseconds at the time the state was taken; instants are
/// `Timestamp`. What a backend does not tell is nil or empty.
package struct VoiceSession: Sendable {
  package var sessionId: String?
  package var guildId: String?, voiceChannelId: String?, textChannelId: String?
  package var startedAt: Timestamp?, lastActivityAt: Timestamp?
  /// When the session ends in any case, and when it ends if nobody speaks.
  package var maxEndsAt: Timestamp?, inactivityEndsAt: Timestamp?
  /// `openai_realtime`, `voice_agent` and others; see `modeLabel`.
  package var mode: String?

  /// How many people speak, as the server counts; and who they are.
  package var activeInputStreams = 0
  package var activeCaptures: [VoiceCapture] = []
  /// Everyone in the channel but the bot.
  package var participants: [VoiceParticipant] = []
  package var participantCount = 0
  /// Who came and went, oldest first.
  package var membershipEvents: [VoiceMembershipEvent] = []

  /// Whether the bot began to speak a moment ago.
  package var botTurnOpen = false
  package var assistantOutput: VoiceOutput?
  /// Whether the bot is ready to play sound.
  package var isPlaybackArmed: Bool?
  /// The speaker that the bot listens to where one is told.
  package var focusedSpeaker: VoiceFocus?
  package var conversation: VoiceConversation?
  /// What was said, oldest first.
  package var recentTurns: [VoiceTurn] = []
  package var pendingDeferredTurns = 0

  package var asrSessions: [VoiceASRSession] = []
  /// The one recogniser for everybody, where there is one.
  package var sharedAsrSession: VoiceASRSession?
  package var batchAsr: VoiceBatchASR?
  package var realtime: VoiceRealtime?
  package var latency: VoiceLatency?

  package var brainTools: [VoiceTool] = []
  /// Tool calls, oldest first.
  package var toolCalls: [VoiceToolCall] = []
  package var mcpStatus: [VoiceMCPServer] = []

  package var promptState: VoicePromptState?
  package var lastGenerationContext: VoiceGenerationContext?
  package var memory: VoiceMemory?
  /// How many notes the session keeps.
  package var durableNotes = 0

  package var streamWatch: VoiceStreamWatch?
  package var music: VoiceMusic?
  package var soundboard: VoiceSoundboard?

  /// A session of which nothing is known.
  package init() {}
}

extension VoiceSession {
  /// Turns that wait anywhere: for recognition, for the provider, put off.
  package var pendingTurns: Int {
    (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) + pendingDeferredTurns
  }

  /// The mode in the dashboard's words: `OpenAI RT`; an unknown mode as sent.
  package var modeLabel: String? {
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
  package func isAwake(at now: Timestamp) -> Bool {
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
  package func name(of userId: String?) -> String? {
    guard let userId else { return nil }
    return participants.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? activeCaptures.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? asrSessions.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? membershipEvents.last { $0.userId == userId && $0.displayName != nil }?.displayName
  }
}

/// What a session is doing, in the one word that the web dashboard shows.
package enum VoiceActivity: String, CaseIterable, Sendable {
  case speaking, processing, listening, disconnected, idle

  /// The word with a capital: `Speaking`.
  package var word: String {
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
  package var activity: VoiceActivity {
    if botTurnOpen { return .speaking }
    if (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) > 0 { return .processing }
    if activeInputStreams > 0 { return .listening }
    return realtime?.state?.connected == false ? .disconnected : .idle
  }
}
