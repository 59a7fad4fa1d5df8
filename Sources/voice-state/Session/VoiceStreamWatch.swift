import Core

/// What the bot sees of a shared screen. Two spellings: notes were called brain
/// context before.
struct VoiceStreamWatch: Sendable {
  /// Something seen.
  struct Seen: Sendable {
    let text: String?
    let at: Timestamp?
    let provider: String?, model: String?, speakerName: String?

    init(_ value: JSONValue) {
      text = value.text("text")
      at = value.time("at")
      provider = value.text("provider")
      model = value.text("model")
      speakerName = value.text("speakerName")
    }
  }

  let active: Bool
  let targetUserId: String?, requestedByUserId: String?
  let lastFrameAt: Timestamp?
  let lastCommentaryAt: Timestamp?
  let lastCommentaryNote: String?
  let lastMemoryRecapAt: Timestamp?
  let lastMemoryRecapText: String?, lastMemoryRecapReason: String?
  let lastMemoryRecapDurableSaved: Bool?
  let latestFrameAt: Timestamp?
  let latestFrameMimeType: String?
  let latestFrameApproxBytes: Int?
  let acceptedFrameCountInWindow: Int?
  let frameWindowStartedAt: Timestamp?
  let ingestedFrameCount: Int?
  let lastNoteAt: Timestamp?
  let lastNoteProvider: String?, lastNoteModel: String?
  let noteCount: Int?
  /// What was seen, oldest first.
  let visualFeed: [Seen]
  let notePayload: VoiceNotePayload?
  /// Only in the older wire.
  let durableScreenNotes: [VoiceNote]
  let nativeDiscord: VoiceNativeStream?

  init(_ value: JSONValue) {
    active = value.bool("active") ?? false
    targetUserId = value.text("targetUserId")
    requestedByUserId = value.text("requestedByUserId")
    lastFrameAt = value.time("lastFrameAt")
    lastCommentaryAt = value.time("lastCommentaryAt")
    lastCommentaryNote = value.text("lastCommentaryNote")
    lastMemoryRecapAt = value.time("lastMemoryRecapAt")
    lastMemoryRecapText = value.text("lastMemoryRecapText")
    lastMemoryRecapReason = value.text("lastMemoryRecapReason")
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
    visualFeed = value.list(Seen.init, "visualFeed")
    notePayload =
      value.part(VoiceNotePayload.init, "notePayload")
      ?? value.part(VoiceNotePayload.init, "brainContextPayload")
    durableScreenNotes = value.list(VoiceNote.init, "durableScreenNotes")
    nativeDiscord = value.part(VoiceNativeStream.init, "nativeDiscord")
  }
}

/// What the answering model is told of the screen.
struct VoiceNotePayload: Sendable {
  let prompt: String?
  /// Each ends in its age: `(12s ago)`.
  let notes: [String]
  let lastAt: Timestamp?
  let provider: String?, model: String?

  init(_ value: JSONValue) {
    prompt = value.text("prompt")
    notes = value.texts("notes")
    lastAt = value.time("lastAt")
    provider = value.text("provider")
    model = value.text("model")
  }
}

/// Screens shared over Discord itself.
struct VoiceNativeStream: Sendable {
  /// Someone who shares a screen.
  struct Sharer: Sendable {
    let userId: String?, displayName: String?, codec: String?
    let streamCount: Int?
    let lastFrameAt: Timestamp?, updatedAt: Timestamp?

    init(_ value: JSONValue) {
      userId = value.text("userId")
      displayName = value.text("displayName")
      codec = value.text("codec")
      streamCount = value.int("streamCount")
      lastFrameAt = value.time("lastFrameAt")
      updatedAt = value.time("updatedAt")
    }
  }

  let activeSharerCount: Int?
  let subscribedTargetUserId: String?
  let decodeInFlight: Bool?, ffmpegAvailable: Bool?
  let lastDecodeAttemptAt: Timestamp?, lastDecodeSuccessAt: Timestamp?
  let lastDecodeFailureAt: Timestamp?
  let lastDecodeFailureReason: String?
  let activeSharers: [Sharer]

  init(_ value: JSONValue) {
    activeSharerCount = value.int("activeSharerCount")
    subscribedTargetUserId = value.text("subscribedTargetUserId")
    decodeInFlight = value.bool("decodeInFlight")
    ffmpegAvailable = value.bool("ffmpegAvailable")
    lastDecodeAttemptAt = value.time("lastDecodeAttemptAt")
    lastDecodeSuccessAt = value.time("lastDecodeSuccessAt")
    lastDecodeFailureAt = value.time("lastDecodeFailureAt")
    lastDecodeFailureReason = value.text("lastDecodeFailureReason")
    activeSharers = value.list(Sharer.init, "activeSharers")
  }
}
