import Core

/// One voice session with everything of it that is shown: what its last state
/// said, and what events have changed since (see `LiveSession`).
///
/// Members have the names of the wire (Agent/Clanky/CONTRACT.md 4). Ages and
/// durations are milliseconds at the time the state was taken; instants are
/// `Timestamp`. Reading never fails: a member that is missing, null or of another
/// type is nil or empty.
struct VoiceSession: Sendable {
  var sessionId: String?
  var guildId: String?, voiceChannelId: String?, textChannelId: String?
  var startedAt: Timestamp?, lastActivityAt: Timestamp?
  /// When the session ends in any case, and when it ends if nobody speaks.
  var maxEndsAt: Timestamp?, inactivityEndsAt: Timestamp?
  /// `openai_realtime`, `voice_agent` and others; see `modeLabel`.
  var mode: String?

  /// How many people speak, as the server counts; and who they are.
  var activeInputStreams = 0
  var activeCaptures: [VoiceCapture] = []
  /// Everyone in the channel but the bot.
  var participants: [VoiceParticipant] = []
  var participantCount = 0
  /// Who came and went, oldest first.
  var membershipEvents: [VoiceMembershipEvent] = []

  /// Whether the bot began to speak a moment ago.
  var botTurnOpen = false
  var assistantOutput: VoiceOutput?
  /// Whether the bot is ready to play sound.
  var isPlaybackArmed: Bool?
  /// The speaker that the bot listens to (only in the older wire).
  var focusedSpeaker: VoiceFocus?
  var conversation: VoiceConversation?
  /// What was said, oldest first.
  var recentTurns: [VoiceTurn] = []
  var pendingDeferredTurns = 0

  var asrSessions: [VoiceASRSession] = []
  /// The one recogniser for everybody, where there is one.
  var sharedAsrSession: VoiceASRSession?
  var batchAsr: VoiceBatchASR?
  var realtime: VoiceRealtime?
  var latency: VoiceLatency?

  var brainTools: [VoiceTool] = []
  /// Tool calls, oldest first.
  var toolCalls: [VoiceToolCall] = []
  var mcpStatus: [VoiceMCPServer] = []

  var promptState: VoicePromptState?
  var lastGenerationContext: VoiceGenerationContext?
  var memory: VoiceMemory?
  /// How many notes the session keeps.
  var durableNotes = 0

  var streamWatch: VoiceStreamWatch?
  var music: VoiceMusic?
  var soundboard: VoiceSoundboard?
}

extension VoiceSession {
  /// - Parameter value: an element of `sessions`.
  init(_ value: JSONValue) {
    sessionId = value.text("sessionId")
    guildId = value.text("guildId")
    voiceChannelId = value.text("voiceChannelId")
    textChannelId = value.text("textChannelId")
    startedAt = value.time("startedAt")
    lastActivityAt = value.time("lastActivityAt")
    maxEndsAt = value.time("maxEndsAt")
    inactivityEndsAt = value.time("inactivityEndsAt")
    mode = value.text("mode")
    activeCaptures = value.list(VoiceCapture.init, "activeCaptures")
    activeInputStreams = value.int("activeInputStreams") ?? activeCaptures.count
    participants = value.list(VoiceParticipant.init, "participants")
    participantCount = value.int("participantCount") ?? participants.count
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    botTurnOpen = value.bool("botTurnOpen") ?? false
    assistantOutput = value.part(VoiceOutput.init, "assistantOutput")
    isPlaybackArmed = value["playbackArm"]?.bool("armed")
    focusedSpeaker = value.part(VoiceFocus.init, "focusedSpeaker")
    conversation = value.part(VoiceConversation.init, "conversation")
    recentTurns = value.list(VoiceTurn.init, "recentTurns")
    pendingDeferredTurns = value.int("pendingDeferredTurns") ?? 0
    asrSessions = value.list(VoiceASRSession.init, "asrSessions")
    sharedAsrSession = value.part(VoiceASRSession.init, "sharedAsrSession")
    batchAsr = value.part(VoiceBatchASR.init, "batchAsr")
    realtime = value.part(VoiceRealtime.init, "realtime")
    latency = value.part(VoiceLatency.init, "latency")
    brainTools = value.list(VoiceTool.init, "brainTools")
    toolCalls = value.list(VoiceToolCall.init, "toolCalls")
    mcpStatus = value.list(VoiceMCPServer.init, "mcpStatus")
    promptState = value.part(VoicePromptState.init, "promptState")
    lastGenerationContext = value.part(VoiceGenerationContext.init, "lastGenerationContext")
    memory = value.part(VoiceMemory.init, "memory")
    durableNotes = value.objects("durableContext")
    streamWatch = value.part(VoiceStreamWatch.init, "streamWatch")
    music = value.part(VoiceMusic.init, "music")
    soundboard = value.part(VoiceSoundboard.init, "soundboard")
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
}
