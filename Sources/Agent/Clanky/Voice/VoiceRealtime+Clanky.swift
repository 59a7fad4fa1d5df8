import Core

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
