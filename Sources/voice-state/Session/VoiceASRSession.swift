import Core

/// One recogniser of speech: of a person, or of everybody.
struct VoiceASRSession: Sendable {
  /// What is being said and is not yet a turn.
  struct Utterance: Sendable {
    let partialText: String?
    /// How many segments are final.
    let finalSegments: Int?
    let bytesSent: Int?

    init(_ value: JSONValue) {
      partialText = value.text("partialText")
      // The number of segments, or the segments themselves.
      finalSegments = value.int("finalSegments") ?? value["finalSegments"]?.count
      bytesSent = value.int("bytesSent")
    }
  }

  let userId: String?, displayName: String?
  let connected: Bool?
  /// `idle`, `connecting`, `ready`, `committing`, `closing`; also when only the
  /// older `closing` says so.
  let phase: String?
  let connectedAt: Timestamp?, lastAudioAt: Timestamp?, lastTranscriptAt: Timestamp?
  let idleMs: Double?, idleTtlMs: Double?
  let hasIdleTimer: Bool?
  let pendingAudioBytes: Int?, pendingAudioChunks: Int?
  let utterance: Utterance?
  let model: String?, sessionId: String?
  /// Of the shared recogniser only.
  let pendingCommitResolvers: Int?, pendingCommitRequests: Int?
  let transcriptByItemIds: Int?, speakerByItemIds: Int?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    connected = value.bool("connected")
    phase = value.text("phase") ?? (value.bool("closing") == true ? "closing" : nil)
    connectedAt = value.time("connectedAt")
    lastAudioAt = value.time("lastAudioAt")
    lastTranscriptAt = value.time("lastTranscriptAt")
    idleMs = value.double("idleMs")
    idleTtlMs = value.double("idleTtlMs")
    hasIdleTimer = value.bool("hasIdleTimer")
    pendingAudioBytes = value.int("pendingAudioBytes")
    pendingAudioChunks = value.int("pendingAudioChunks")
    utterance = value.part(Utterance.init, "utterance")
    model = value.text("model")
    sessionId = value.text("sessionId")
    pendingCommitResolvers = value.int("pendingCommitResolvers")
    pendingCommitRequests = value.int("pendingCommitRequests")
    transcriptByItemIds = value.int("transcriptByItemIds")
    speakerByItemIds = value.int("speakerByItemIds")
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
