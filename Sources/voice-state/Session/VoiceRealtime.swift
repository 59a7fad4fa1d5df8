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

/// What the bot's own voice does.
struct VoiceOutput: Sendable {
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  let phase: String?
  let phaseEnteredAt: Timestamp?

  init(_ value: JSONValue) {
    phase = value.text("phase")
    phaseEnteredAt = value.time("phaseEnteredAt")
  }
}

/// One recogniser of speech: of a person, or of everybody.
struct VoiceASRSession: Sendable {
  /// What is being said and is not yet a turn.
  struct Utterance: Sendable {
    var partialText: String?
    /// How many segments are final.
    var finalSegments: Int?
    var bytesSent: Int?
  }

  var userId: String?, displayName: String?
  var connected: Bool?
  /// `idle`, `connecting`, `ready`, `committing`, `closing`; also when only the
  /// older `closing` says so.
  var phase: String?
  var lastAudioAt: Timestamp?, lastTranscriptAt: Timestamp?
  var idleMs: Double?, idleTtlMs: Double?
  var pendingAudioBytes: Int?, pendingAudioChunks: Int?
  var utterance: Utterance?
  var model: String?
  /// Whether only an event told of it: then an event ends it, too.
  var isHeard = false
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

/// Turns that wait to be recognised as files.
struct VoiceBatchASR: Sendable {
  let pendingTurns: Int
  let contextMessages: Int?

  init(_ value: JSONValue) {
    pendingTurns = value.int("pendingTurns") ?? 0
    contextMessages = value.int("contextMessages")
  }
}
