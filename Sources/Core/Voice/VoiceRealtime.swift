/// The provider that the session speaks through.
public struct VoiceRealtime: Sendable {
  public let provider: String?
  public let inputSampleRateHz: Int?, outputSampleRateHz: Int?
  public let recentVoiceTurns: Int?
  /// Replies that were overtaken by newer words.
  public let replySuperseded: Int?
  public let pendingTurns: Int
  public let drainActive: Bool?, coalesceActive: Bool?
  public let state: VoiceRealtimeState?

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
public struct VoiceRealtimeState: Sendable {
  /// Something that was sent to the provider.
  public struct Event: Sendable {
    public let type: String?
    public let at: Timestamp?

    init(_ value: JSONValue) {
      type = value.text("type")
      at = value.time("at")
    }
  }

  public let connected: Bool?
  public let connectedAt: Timestamp?, lastEventAt: Timestamp?
  public let sessionId: String?, lastError: String?
  public let lastCloseCode: Int?
  public let lastCloseReason: String?
  public let lastEventType: String?
  public let lastOutboundEventType: String?
  public let lastOutboundEventAt: Timestamp?
  public let activeResponseId: String?, activeResponseStatus: String?
  /// Oldest first.
  public let recentOutboundEvents: [Event]
  /// Of some providers only.
  public let model: String?
  public let utteranceCount: Int?
  public let setupComplete: Bool?, pendingResponseActive: Bool?

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
