import Core

/// One voice session with everything that the dashboard sends of it.
///
/// Members have the names of the wire. Ages and durations are milliseconds at
/// the time the state was taken; instants are `Timestamp`.
struct VoiceSession: Sendable {
  let sessionId: String?
  let guildId: String?, voiceChannelId: String?, textChannelId: String?
  let startedAt: Timestamp?, lastActivityAt: Timestamp?
  /// When the session ends in any case, and when it ends if nobody speaks.
  let maxEndsAt: Timestamp?, inactivityEndsAt: Timestamp?
  /// `openai_realtime`, `voice_agent` and others; see `modeLabel`.
  let mode: String?
  /// `transport_only` or `provider_native`.
  let realtimeToolOwnership: String?

  /// How many people speak, as the server counts; and who they are.
  let activeInputStreams: Int
  let activeCaptures: [VoiceCapture]
  /// Everyone in the channel but the bot.
  let participants: [VoiceParticipant]
  let participantCount: Int
  /// Who came and went, oldest first.
  let membershipEvents: [VoiceMembershipEvent]

  /// Whether the bot began to speak a moment ago.
  let botTurnOpen: Bool
  let assistantOutput: VoiceOutput?
  let playbackArm: VoicePlaybackArm?
  /// The speaker that the bot listens to (only in the older wire).
  let focusedSpeaker: VoiceFocus?
  let conversation: VoiceConversation?
  /// What was said, oldest first.
  let recentTurns: [VoiceTurn]
  let pendingDeferredTurns: Int

  let asrSessions: [VoiceASRSession]
  /// The one recogniser for everybody, where there is one.
  let sharedAsrSession: VoiceASRSession?
  let batchAsr: VoiceBatchASR?
  let realtime: VoiceRealtime?
  let latency: VoiceLatency?

  let brainTools: [VoiceTool]
  /// Tool calls, oldest first.
  let toolCalls: [VoiceToolCall]
  let mcpStatus: [VoiceMCPServer]

  let promptState: VoicePromptState?
  let lastGenerationContext: VoiceGenerationContext?
  let memory: VoiceMemory?
  /// What the session noted down, oldest first.
  let durableContext: [VoiceNote]

  let streamWatch: VoiceStreamWatch?
  let music: VoiceMusic?
  let soundboard: VoiceSoundboard?

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
    realtimeToolOwnership = value.text("realtimeToolOwnership")
    activeCaptures = value.list(VoiceCapture.init, "activeCaptures")
    activeInputStreams = value.int("activeInputStreams") ?? activeCaptures.count
    participants = value.list(VoiceParticipant.init, "participants")
    participantCount = value.int("participantCount") ?? participants.count
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    botTurnOpen = value.bool("botTurnOpen") ?? false
    assistantOutput = value.part(VoiceOutput.init, "assistantOutput")
    playbackArm = value.part(VoicePlaybackArm.init, "playbackArm")
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
    durableContext = value.list(VoiceNote.init, "durableContext")
    streamWatch = value.part(VoiceStreamWatch.init, "streamWatch")
    music = value.part(VoiceMusic.init, "music")
    soundboard = value.part(VoiceSoundboard.init, "soundboard")
  }
}
