import Core
import Records

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

extension VoiceConversation {
  init(_ value: JSONValue) {
    lastAssistantReplyAt = value.time("lastAssistantReplyAt")
    lastDirectAddressAt = value.time("lastDirectAddressAt")
    lastDirectAddressUserId = value.text("lastDirectAddressUserId")
    musicWakeLatchedUntil = value.time("musicWakeLatchedUntil")
    musicWakeLatchedByUserId = value.text("musicWakeLatchedByUserId")
    wake = value.part(VoiceWake.init, "wake")
    thoughtEngine = value.part(VoiceThoughtEngine.init, "thoughtEngine")
    addressingGuesses =
      value["addressing"]?.list(VoiceAddressingGuess.init, "recentAddressingGuesses") ?? []
    modelContext = value.part(VoiceModelContext.init, "modelContext")
  }
}

extension VoiceWake {
  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    active = value.bool("active")
    msSinceAssistantReply = value.double("msSinceAssistantReply")
    msSinceDirectAddress = value.double("msSinceDirectAddress")
    windowMs = value.double("windowMs")
  }
}

extension VoiceAddressingGuess {
  init(_ value: JSONValue) {
    speakerName = value.text("speakerName")
    talkingTo = value.text("talkingTo")
    directedConfidence = value.double("directedConfidence")
  }
}

extension VoiceThoughtEngine {
  init(_ value: JSONValue) {
    busy = value.bool("busy")
    nextAttemptAt = value.time("nextAttemptAt")
    lastAttemptAt = value.time("lastAttemptAt")
    lastSpokenAt = value.time("lastSpokenAt")
    pendingThought = value.part(VoiceThought.init, "pendingThought")
  }
}

extension VoiceThought {
  init(_ value: JSONValue) {
    status = value.text("status")
    text = value.text("text")
    draftText = value.text("draftText")
    lastDecisionReason = value.text("lastDecisionReason")
    lastDecisionAction = value.text("lastDecisionAction")
    invalidationReason = value.text("invalidationReason")
  }
}

extension VoiceModelContext.Share {
  init(_ value: JSONValue) {
    availableTurns = value.int("availableTurns")
    sentTurns = value.int("sentTurns")
    maxTurns = value.int("maxTurns")
    contextChars = value.int("contextChars")
    transcriptChars = value.int("transcriptChars")
    promptHistoryChars = value.int("promptHistoryChars")
  }
}

extension VoiceModelContext {
  init(_ value: JSONValue) {
    generation = value.part(Share.init, "generation")
    decider = value.part(Share.init, "decider")
    trackedTurns = value.int("trackedTurns")
    trackedTurnLimit = value.int("trackedTurnLimit")
    trackedTranscriptTurns = value.int("trackedTranscriptTurns")
  }
}

extension VoiceParticipant {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
  }
}

extension VoiceCapture {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    startedAt = value.time("startedAt")
    ageMs = value.double("ageMs")
  }
}

extension VoiceFocus {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    since = value.time("since")
  }
}

/// Of a state, or of the event itself, which names its member otherwise.
extension VoiceMembershipEvent {
  init(_ value: JSONValue) {
    userId = value.text("memberUserId", "userId")
    displayName = value.text("displayName")
    eventType = value.text("eventType")
    at = value.time("at")
    ageMs = value.double("ageMs")
  }
}

extension VoiceTurn {
  init(_ value: JSONValue) {
    kind = value.text("kind")
    role = value.text("role")
    speakerName = value.text("speakerName")
    text = value.text("text") ?? ""
    at = value.time("at")
  }
}

extension VoiceRealtime {
  init(_ value: JSONValue) {
    provider = value.text("provider")
    inputSampleRateHz = value.int("inputSampleRateHz")
    outputSampleRateHz = value.int("outputSampleRateHz")
    recentVoiceTurns = value.int("recentVoiceTurns")
    replySuperseded = value.int("replySuperseded")
    pendingTurns = value.int("pendingTurns") ?? 0
    drainActive = value.bool("drainActive")
    coalesceActive = value.bool("coalesceActive")
    state = value.part(VoiceRealtimeState.init, "state")
  }
}

extension VoiceRealtimeState.Event {
  init(_ value: JSONValue) {
    type = value.text("type")
    at = value.time("at")
  }
}

extension VoiceRealtimeState {
  init(_ value: JSONValue) {
    connected = value.bool("connected")
    connectedAt = value.time("connectedAt")
    lastEventAt = value.time("lastEventAt")
    sessionId = value.text("sessionId")
    lastError = value.text("lastError")
    lastCloseCode = value.int("lastCloseCode")
    lastCloseReason = value.text("lastCloseReason")
    lastEventType = value.text("lastEventType")
    let last = value.part(Event.init, "lastOutboundEvent")
    lastOutboundEventType = value.text("lastOutboundEventType") ?? last?.type
    lastOutboundEventAt = value.time("lastOutboundEventAt") ?? last?.at
    activeResponseId = value.text("activeResponseId")
    activeResponseStatus = value.text("activeResponseStatus")
    recentOutboundEvents = value.list(Event.init, "recentOutboundEvents")
    model = value.text("model")
    utteranceCount = value.int("utteranceCount")
    setupComplete = value.bool("setupComplete")
    pendingResponseActive = value.bool("pendingResponseActive")
  }
}

extension VoiceOutput {
  init(_ value: JSONValue) {
    phase = value.text("phase")
    phaseEnteredAt = value.time("phaseEnteredAt")
  }
}

extension VoiceASRSession {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    connected = value.bool("connected")
    phase = value.text("phase") ?? (value.bool("closing") == true ? "closing" : nil)
    lastAudioAt = value.time("lastAudioAt")
    lastTranscriptAt = value.time("lastTranscriptAt")
    idleMs = value.double("idleMs")
    idleTtlMs = value.double("idleTtlMs")
    pendingAudioBytes = value.int("pendingAudioBytes")
    pendingAudioChunks = value.int("pendingAudioChunks")
    utterance = value.part(Utterance.init, "utterance")
    model = value.text("model")
  }
}

extension VoiceASRSession.Utterance {
  init(_ value: JSONValue) {
    partialText = value.text("partialText")
    // The number of segments, or the segments themselves.
    finalSegments = value.int("finalSegments") ?? value["finalSegments"]?.count
    bytesSent = value.int("bytesSent")
  }
}

extension VoiceBatchASR {
  init(_ value: JSONValue) {
    pendingTurns = value.int("pendingTurns") ?? 0
    contextMessages = value.int("contextMessages")
  }
}

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

extension VoiceLatency {
  init(_ value: JSONValue) {
    recentTurns = value.list(Turn.init, "recentTurns")
    averages = value["averages"].map { Stages($0) } ?? Stages()
  }
}

extension VoiceLatency.Turn {
  init(_ value: JSONValue) {
    at = value.time("at")
    stages = VoiceLatency.Stages(value)
  }
}

extension VoiceLatency.Stages {
  /// In the order of the stages; the total comes last.
  private static let members = [
    "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
    "replyRequestToAudioStartMs", "totalMs",
  ]

  init(_ value: JSONValue) {
    all = Self.members.map { name in
      // No answer takes less than no time, or years.
      guard let time = value.double(name), time >= 0, time < 1e11 else { return nil }
      return time
    }
  }
}

extension VoiceGenerationContext {
  init(_ value: JSONValue) {
    capturedAt = value.time("capturedAt")
    source = value.text("source")
    mode = value.text("mode")
    incomingTranscript = value.text("incomingTranscript")
    speakerName = value.text("speakerName")
    directAddressed = value.bool("directAddressed")
    isEagerTurn = value.bool("isEagerTurn")
    contextMessages = value.list(
      { $0.text("content")?.utf8.count ?? 0 }, "contextMessages")
    conversationContext = value.part(VoiceTalkContext.init, "conversationContext")
    participantRoster = value.texts("participantRoster")
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    // Beside the session's own turn, the facts lie one level higher.
    memoryFacts = VoiceFacts(value["memoryFacts"] ?? value)
    durableNotes = value.objects("durableContext")
    sessionTiming = value.part(VoiceTiming.init, "sessionTiming")
    tools =
      value["tools"]?.members.prefix(100).compactMap { member in
        member.value.bool.map { (member.name, $0) }
      } ?? []
    soundboardCandidateCount = value.int("soundboardCandidateCount")
    activityReactivity = value.int("activityReactivity")
    soundboardEagerness = value.int("soundboardEagerness")
    llmConfig = value.part(VoiceModelConfig.init, "llmConfig")
  }
}

extension VoiceTalkContext {
  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    streamWatchNotes = value.texts("streamWatchNotes")
    talkingTo = value["addressing"]?.text("talkingTo")
    confidence = value["addressing"]?.double("confidence", "directedConfidence")
  }
}

/// Milliseconds or seconds.
extension VoiceTiming {
  init(_ value: JSONValue) {
    timeoutWarningActive = value.bool("timeoutWarningActive")
    timeoutWarningReason = value.text("timeoutWarningReason")
    maxRemainingMs =
      value.double("maxRemainingMs") ?? value.double("maxSecondsRemaining").map { $0 * 1000 }
    inactivityRemainingMs =
      value.double("inactivityRemainingMs")
      ?? value.double("inactivitySecondsRemaining").map { $0 * 1000 }
  }
}

extension VoiceModelConfig {
  init(_ value: JSONValue) {
    provider = value.text("provider")
    model = value.text("model")
    temperature = value.double("temperature")
    maxOutputTokens = value.int("maxOutputTokens")
  }
}

extension VoiceMemory {
  init(_ value: JSONValue) {
    let profiles = value.list({ $0.objects("userFacts") }, "factProfiles")
    people = profiles.count
    userFacts = profiles.reduce(0, +)
    selfFacts = value["guildFactProfile"]?.objects("selfFacts") ?? 0
    loreFacts = value["guildFactProfile"]?.objects("loreFacts") ?? 0
  }
}

extension VoiceFacts {
  init(_ value: JSONValue) {
    userFacts = value.objects("userFacts")
    relevantFacts = value.objects("relevantFacts")
    guidanceFacts = value.objects("guidanceFacts")
    behavioralFacts = value.objects("behavioralFacts")
  }
}

extension VoicePromptState {
  init(_ value: JSONValue) {
    instructions = value.part(VoicePrompt.init, "instructions")
    classifier = value.part(VoicePrompt.init, "classifier")
    generation = value.part(VoicePrompt.init, "generation")
    bridge = value.part(VoicePrompt.init, "bridge")
  }
}

extension VoicePrompt {
  init(_ value: JSONValue) {
    updatedAt = value.time("updatedAt")
    let bundle = value["replyPrompts"]
    systemPrompt = VoiceText(bundle?["systemPrompt"])
    initialUserPrompt = VoiceText(bundle?["initialUserPrompt"])
    followupUserPrompts = bundle?["followupUserPrompts"]?.elements.map { VoiceText($0) } ?? []
    followupSteps = bundle?.int("followupSteps")
    tools = bundle?.list(VoiceTool.init, "tools") ?? []
    promptTiers = bundle?.list({ $0.bool("present") == true }, "promptTiers") ?? []
  }
}

extension VoiceTool {
  init(_ value: JSONValue) {
    name = value.text("name")
    serverName = value.text("serverName")
    description = value.text("description")
  }
}

/// Of a state, or of the event of a call: calls that a model makes by itself have other
/// names for three members.
extension VoiceToolCall {
  init(_ value: JSONValue) {
    callId = value.text("callId")
    toolName = value.text("toolName")
    toolType = value.text("toolType")
    serverName = value.text("serverName")
    arguments = value[either: "arguments", "toolInput"]
    startedAt = value.time("startedAt")
    completedAt = value.time("completedAt")
    runtimeMs = value.double("runtimeMs", "durationMs")
    success = value.bool("success")
    outputSummary = value[either: "outputSummary", "toolResultSummary"]
    error = value.text("error") ?? value.part({ $0.text("message", "code") }, "error") ?? nil
  }
}

extension VoiceMCPServer {
  init(_ value: JSONValue) {
    serverName = value.text("serverName")
    connected = value.bool("connected")
    tools = value.list(VoiceTool.init, "tools")
    lastError = value.text("lastError")
    lastConnectedAt = value.time("lastConnectedAt")
    lastCallAt = value.time("lastCallAt")
  }
}

/// Two spellings: notes were called brain context before.
extension VoiceStreamWatch {
  init(_ value: JSONValue) {
    active = value.bool("active") ?? false
    targetUserId = value.text("targetUserId")
    requestedByUserId = value.text("requestedByUserId")
    lastFrameAt = value.time("lastFrameAt")
    lastCommentaryAt = value.time("lastCommentaryAt")
    lastCommentaryNote = value.text("lastCommentaryNote")
    lastMemoryRecapAt = value.time("lastMemoryRecapAt")
    lastMemoryRecapText = value.text("lastMemoryRecapText")
    lastMemoryRecapDurableSaved = value.bool("lastMemoryRecapDurableSaved")
    latestFrameAt = value.time("latestFrameAt")
    latestFrameMimeType = value.text("latestFrameMimeType")
    latestFrameApproxBytes = value.int("latestFrameApproxBytes")
    acceptedFrameCountInWindow = value.int("acceptedFrameCountInWindow")
    frameWindowStartedAt = value.time("frameWindowStartedAt")
    ingestedFrameCount = value.int("ingestedFrameCount")
    lastNoteAt = value.time("lastNoteAt", "lastBrainContextAt")
    lastNoteProvider = value.text("lastNoteProvider", "lastBrainContextProvider")
    lastNoteModel = value.text("lastNoteModel", "lastBrainContextModel")
    noteCount = value.int("noteCount", "brainContextCount")
    visualFeed = value.list(
      { Seen(text: $0.text("text"), at: $0.time("at"), speakerName: $0.text("speakerName")) },
      "visualFeed")
    notePayload =
      value.part(VoiceNotePayload.init, "notePayload")
      ?? value.part(VoiceNotePayload.init, "brainContextPayload")
    nativeDiscord = value.part(VoiceNativeStream.init, "nativeDiscord")
  }
}

extension VoiceNotePayload {
  init(_ value: JSONValue) {
    notes = value.texts("notes")
    lastAt = value.time("lastAt")
    provider = value.text("provider")
    model = value.text("model")
  }
}

extension VoiceNativeStream.Sharer {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    codec = value.text("codec")
  }
}

extension VoiceNativeStream {
  init(_ value: JSONValue) {
    decodeInFlight = value.bool("decodeInFlight")
    ffmpegAvailable = value.bool("ffmpegAvailable")
    lastDecodeSuccessAt = value.time("lastDecodeSuccessAt")
    lastDecodeFailureAt = value.time("lastDecodeFailureAt")
    lastDecodeFailureReason = value.text("lastDecodeFailureReason")
    activeSharers = value.list(Sharer.init, "activeSharers")
  }
}

/// A voice action, in either spelling (Agent/Clanky/CONTRACT.md 3.5).
extension VoiceNews {
  init(_ action: Action) {
    let fields = action.metadata
    session = fields?["sessionId"]?.text
    guild = action.guild
    at = action.time
    user = action.user
    speaker = fields?.text("speakerName")
    textChannel = action.channel
    voiceChannel = fields?.text("voiceChannelId")
    mode = fields?.text("mode")
    mostSeconds = fields?.double("maxSessionMinutes").flatMap { minutes in
      minutes > 0 && minutes < 1e6 ? Int64(minutes * 60) : nil
    }
    event = VoiceEvent(action)
  }
}

extension VoiceEvent {
  /// - Returns: nil for one that means nothing here.
  fileprivate init?(_ action: Action) {
    let fields = action.metadata
    switch action.kind {
    case "voice_session_start": self = .begins
    case "voice_session_end": self = .ends(action.content ?? "")
    case "voice_turn_in": self = .personSpeaks
    case "voice_turn_out": self = .agentSpeaks
    case "voice_soundboard_play": self = .sound(count: fields?.int("playCount"))
    case "voice_runtime", "voice_error":
      guard let fields, let event = Self.runtime(action, fields) else { return nil }
      self = event
    default: return nil
    }
  }

  private static func runtime(_ action: Action, _ fields: JSONValue) -> VoiceEvent? {
    let name = action.content ?? ""
    switch name {
    case "realtime_tool_call_started":
      let call = begun(action, fields)
      return call.callId == nil ? nil : .callBegins(call)
    case "realtime_tool_call_completed", "realtime_tool_call_failed":
      let call = ended(action, fields, failed: name.hasSuffix("failed"))
      return call.callId == nil ? nil : .callEnds(call)
    case "voice_brain_tool_call":
      // The other path tells of a call once, at its end, and without an id.
      var call = ended(action, fields, failed: fields.bool("isError") == true)
      call.callId = fields.text("toolCallIndex").map {
        "brain_tool_\($0)_\(action.createdAt ?? "")"
      }
      return .callEnds(call)
    case "voice_membership_changed":
      var event = VoiceMembershipEvent(fields)
      guard let type = event.eventType else { return nil }
      event.eventType = type == "join" ? type : "leave"
      event.at = action.time
      return .membership(event)
    case "voice_latency_stage":
      return .answer(
        request: fields.text("requestId") ?? action.createdAt ?? "", VoiceLatency.Stages(fields))
    case "voice_turn_addressing":
      return .attention(
        fields.text("attentionMode").map { VoiceWake(attentionMode: $0, active: $0 == "ACTIVE") },
        isDirect: fields.bool("directAddressed") == true)
    case "bot_utterance_completed": return .agentEnds
    case "stream_watch_note_updated":
      guard let note = fields.text("note") else { return nil }
      return .seen(VoiceStreamWatch.Seen(text: note, at: action.time))
    case "voice_music_started", "voice_music_paused", "voice_music_stopped":
      let phases = ["voice_music_started": "playing", "voice_music_paused": "paused"]
      return .music(
        phase: phases[name] ?? "idle", title: fields.text("trackTitle", "title"),
        query: fields.text("query"))
    case _ where name.hasSuffix("_frame_ingested"): return .frame(total: fields.int("totalFrames"))
    case _ where name.hasSuffix("_response_done"): return .agentEnds
    default: return words(action, fields)
    }
  }

  private static func words(_ action: Action, _ fields: JSONValue) -> VoiceEvent? {
    guard let text = fields.text("transcript") else { return nil }
    let name = action.content ?? ""
    let type = fields.text("transcriptEventType", "eventType") ?? ""
    let isAgent =
      fields.text("transcriptSource").map { $0 == "output" }
      ?? (fields.text("speakerName") == nil && name.hasSuffix("_transcript")
        && name != "file_asr_transcript")
    guard type.holds("delta") || type.holds("partial") || name.holds("partial") else {
      return .words(text, isAgent: isAgent)
    }
    return isAgent ? nil : .partialWords(text)
  }

  private static func begun(_ action: Action, _ fields: JSONValue) -> VoiceToolCall {
    var call = VoiceToolCall(fields)
    call.isHeard = true
    call.startedAt = action.time
    (call.completedAt, call.success, call.error) = (nil, nil, nil)
    return call
  }

  private static func ended(
    _ action: Action, _ fields: JSONValue, failed: Bool
  ) -> VoiceToolCall {
    var call = VoiceToolCall(fields)
    call.isHeard = true
    call.startedAt = nil
    if let end = action.time, let took = call.runtimeMs, took >= 0, took < 1e12 {
      call.startedAt = end.adding(.milliseconds(-Int64(took)))
    }
    call.completedAt = action.time ?? .now()
    if failed && call.error == nil { call.error = "failed" }
    call.success = call.error == nil
    return call
  }
}

extension Action {
  /// When it was done, nil when the record does not say.
  fileprivate var time: Timestamp? { createdAt.flatMap { Timestamp(rfc3339: $0) } }
}
