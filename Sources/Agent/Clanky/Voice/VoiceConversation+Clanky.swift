import Core

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
