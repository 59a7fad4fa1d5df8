package import Core

/// One voice session with everything of it that is shown: what its last state
/// said, and what events have changed since.
///
/// The members have the names that Clanky gives them (Agent/Clanky/CONTRACT.md 4), the one
/// backend with voice so far. Ages and durations are milliseconds at the time the state was
/// taken; instants are `Timestamp`.
package struct VoiceSession: VoicePart {
  let json: JSONValue?
  package var sessionId: String?
  package var guildId: String?, voiceChannelId: String?, textChannelId: String?
  /// What whoever asked for the session found out; no session says it.
  package var guildName: String?
  package var startedAt: Timestamp?, lastActivityAt: Timestamp?
  /// When the session ends in any case, and when it ends if nobody speaks.
  package var maxEndsAt: Timestamp?
  package var inactivityEndsAt: Timestamp? { value() }
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
  package var assistantOutput: VoiceOutput? { value() }
  /// Whether the bot is ready to play sound.
  package var isPlaybackArmed: Bool? { json?["playbackArm"]?.bool("armed") }
  /// The speaker that the bot listens to where one is told.
  package var focusedSpeaker: VoiceFocus? { value() }
  package var conversation: VoiceConversation?
  /// What was said, oldest first.
  package var recentTurns: [VoiceTurn] = []
  package var pendingDeferredTurns: Int { value() ?? 0 }

  package var asrSessions: [VoiceASRSession] = []
  /// The one recogniser for everybody, where there is one.
  package var sharedAsrSession: VoiceASRSession? { value() }
  package var batchAsr: VoiceBatchASR? { value() }
  package var realtime: VoiceRealtime? { value() }
  package var latency: VoiceLatency?

  package var brainTools: [VoiceTool] { value() }
  /// Tool calls, oldest first.
  package var toolCalls: [VoiceToolCall] = []
  package var mcpStatus: [VoiceMCPServer] { value() }

  package var promptState: VoicePromptState? { value() }
  package var lastGenerationContext: VoiceGenerationContext? { value() }
  package var memory: VoiceMemory? { value() }
  /// How many notes the session keeps.
  package var durableNotes: Int { json?.objects("durableContext") ?? 0 }

  package var streamWatch: VoiceStreamWatch?
  package var music: VoiceMusic?
  package var soundboard: VoiceSoundboard?

  /// A session as a state tells of it; nil for one of which nothing is known.
  package init(json: JSONValue? = nil) {
    self.json = json
    sessionId = value("sessionId")
    guildId = value("guildId")
    voiceChannelId = value("voiceChannelId")
    textChannelId = value("textChannelId")
    startedAt = value("startedAt")
    lastActivityAt = value("lastActivityAt")
    maxEndsAt = value("maxEndsAt")
    mode = value("mode")
    activeCaptures = value("activeCaptures")
    activeInputStreams = value("activeInputStreams") ?? activeCaptures.count
    participants = value("participants")
    participantCount = value("participantCount") ?? participants.count
    membershipEvents = value("membershipEvents")
    botTurnOpen = value("botTurnOpen") ?? false
    conversation = value("conversation")
    recentTurns = value("recentTurns")
    asrSessions = value("asrSessions")
    latency = value("latency")
    toolCalls = value("toolCalls")
    streamWatch = value("streamWatch")
    music = value("music")
    soundboard = value("soundboard")
  }

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
  package func isAwake(at now: Timestamp) -> Bool {
    if let active = conversation?.wake?.active { return active }
    return [conversation?.lastAssistantReplyAt, conversation?.lastDirectAddressAt].contains {
      guard let time = $0 else { return false }
      return now < time.adding(.seconds(35))
    }
  }

  /// The display name of a person of the session; nil when it does not tell.
  package func name(of userId: String?) -> String? {
    guard let userId else { return nil }
    return participants.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? activeCaptures.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? asrSessions.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? membershipEvents.last { $0.userId == userId && $0.displayName != nil }?.displayName
  }

  /// The first that holds: the bot's turn is open, turns wait for recognition or
  /// an answer, someone speaks, the provider's link is down, nothing.
  package var activity: VoiceActivity {
    if botTurnOpen { return .speaking }
    let realtime = realtime
    if (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) > 0 { return .processing }
    if activeInputStreams > 0 { return .listening }
    return realtime?.state?.connected == false ? .disconnected : .idle
  }
}

/// What a session is doing, in the one word that the web dashboard shows.
package enum VoiceActivity: String, CaseIterable, Sendable {
  case speaking, processing, listening, disconnected, idle

  /// The word with a capital: `Speaking`.
  package var word: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// Someone in the voice channel.
package struct VoiceParticipant: VoicePart {
  let json: JSONValue?
  package var userId: String?, displayName: String?

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
  }

  package init(userId: String?, displayName: String?) {
    (json, self.userId, self.displayName) = (nil, userId, displayName)
  }
}

/// Someone who speaks now.
package struct VoiceCapture: VoicePart {
  let json: JSONValue?
  package var userId: String?, displayName: String?
  package var startedAt: Timestamp?
  package var ageMs: Double? { value() }
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard: Bool { json == nil }

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
    startedAt = value("startedAt")
  }

  /// Someone of whom an event tells.
  package init(heard userId: String, _ displayName: String?, at time: Timestamp) {
    (json, self.userId, self.displayName, startedAt) = (nil, userId, displayName, time)
  }
}

/// The speaker that the bot attends to.
package struct VoiceFocus: VoicePart {
  let json: JSONValue?
  package var userId: String? { value() }
  package var displayName: String? { value() }
  package var since: Timestamp? { value() }
}

/// Someone came or went: of a state, or of the event itself, which names its member otherwise.
package struct VoiceMembershipEvent: VoicePart {
  let json: JSONValue?
  package var userId: String? { value("memberUserId") ?? value() }
  package var displayName: String? { value() }
  /// `join` or `leave`.
  package var eventType: String?
  package var at: Timestamp?
  package var ageMs: Double? { value() }

  init(json: JSONValue?) {
    self.json = json
    eventType = value("eventType")
    at = value("at")
  }
}

/// One thing that was said, thought, or happened in the channel.
package struct VoiceTurn: VoicePart {
  let json: JSONValue?
  /// `speech`, `thought`, `membership`, `effect`; nil where it is not told.
  package var kind: String?
  /// `user` or `assistant`.
  package var role: String?
  /// `YOU` for a thought of the bot.
  package var speakerName: String?
  package var text: String
  package var at: Timestamp?

  init(json: JSONValue?) {
    self.json = json
    text = ""
    text = value("text") ?? ""
    kind = value("kind")
    role = value("role")
    speakerName = value("speakerName")
    at = value("at")
  }

  /// What somebody said.
  package init(_ text: String, by speakerName: String?, role: String, at: Timestamp?) {
    (json, self.text, self.speakerName, self.role, self.at) = (nil, text, speakerName, role, at)
    kind = "speech"
  }
}

/// What the bot's own voice does.
package struct VoiceOutput: VoicePart {
  let json: JSONValue?
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  package var phase: String? { value() }
  package var phaseEnteredAt: Timestamp? { value() }
}

/// A voice session that has ended.
package struct PastSession: Sendable {
  /// As it came, on one line.
  package let bytes: [UInt8]
  package let id: String?, guild: String?, mode: String?, reason: String?
  package let startedAt: Timestamp?, endedAt: Timestamp?
  package let seconds: Double?
}
