import Core

/// A session of a voice state (Agent/Clanky/CONTRACT.md 4). Reading never fails: a member
/// that is missing, null or of another type is nil or empty.
extension VoiceSession {
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
}
