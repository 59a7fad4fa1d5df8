import Core

/// The provider that the session speaks through.
struct VoiceRealtime: Sendable {
  let provider: String?
  let inputSampleRateHz: Int?, outputSampleRateHz: Int?
  let recentVoiceTurns: Int?
  /// Replies that were overtaken by newer words.
  let replySuperseded: Int?
  let pendingTurns: Int
  let drainActive: Bool?, coalesceActive: Bool?
  let state: VoiceRealtimeState?

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

/// The link to the provider.
struct VoiceRealtimeState: Sendable {
  /// Something that was sent to the provider.
  struct Event: Sendable {
    let type: String?
    let at: Timestamp?

    init(_ value: JSONValue) {
      type = value.text("type")
      at = value.time("at")
    }
  }

  let connected: Bool?
  let connectedAt: Timestamp?, lastEventAt: Timestamp?
  let sessionId: String?, lastError: String?
  let lastCloseCode: Int?
  let lastCloseReason: String?
  let lastEventType: String?
  let lastOutboundEventType: String?
  let lastOutboundEventAt: Timestamp?
  let activeResponseId: String?, activeResponseStatus: String?
  /// Oldest first.
  let recentOutboundEvents: [Event]
  /// Of some providers only.
  let model: String?
  let utteranceCount: Int?
  let setupComplete: Bool?, pendingResponseActive: Bool?

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
