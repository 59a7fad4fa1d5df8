/// What the bot sees of a shared screen. Two spellings: notes were called brain
/// context before.
public struct VoiceStreamWatch: Sendable {
  /// Something seen.
  public struct Seen: Sendable {
    public let text: String?
    public let at: Timestamp?
    public let provider: String?, model: String?, speakerName: String?

    init(_ value: JSONValue) {
      text = value.text("text")
      at = value.time("at")
      provider = value.text("provider")
      model = value.text("model")
      speakerName = value.text("speakerName")
    }
  }

  public let active: Bool
  public let targetUserId: String?, requestedByUserId: String?
  public let lastFrameAt: Timestamp?
  public let lastCommentaryAt: Timestamp?
  public let lastCommentaryNote: String?
  public let lastMemoryRecapAt: Timestamp?
  public let lastMemoryRecapText: String?, lastMemoryRecapReason: String?
  public let lastMemoryRecapDurableSaved: Bool?
  public let latestFrameAt: Timestamp?
  public let latestFrameMimeType: String?
  public let latestFrameApproxBytes: Int?
  public let acceptedFrameCountInWindow: Int?
  public let frameWindowStartedAt: Timestamp?
  public let ingestedFrameCount: Int?
  public let lastNoteAt: Timestamp?
  public let lastNoteProvider: String?, lastNoteModel: String?
  public let noteCount: Int?
  /// What was seen, oldest first.
  public let visualFeed: [Seen]
  public let notePayload: VoiceNotePayload?
  /// Only in the older wire.
  public let durableScreenNotes: [VoiceNote]
  public let nativeDiscord: VoiceNativeStream?

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
public struct VoiceNotePayload: Sendable {
  public let prompt: String?
  /// Each ends in its age: `(12s ago)`.
  public let notes: [String]
  public let lastAt: Timestamp?
  public let provider: String?, model: String?

  init(_ value: JSONValue) {
    prompt = value.text("prompt")
    notes = value.texts("notes")
    lastAt = value.time("lastAt")
    provider = value.text("provider")
    model = value.text("model")
  }
}

/// Screens shared over Discord itself.
public struct VoiceNativeStream: Sendable {
  /// Someone who shares a screen.
  public struct Sharer: Sendable {
    public let userId: String?, displayName: String?, codec: String?
    public let streamCount: Int?
    public let lastFrameAt: Timestamp?, updatedAt: Timestamp?

    init(_ value: JSONValue) {
      userId = value.text("userId")
      displayName = value.text("displayName")
      codec = value.text("codec")
      streamCount = value.int("streamCount")
      lastFrameAt = value.time("lastFrameAt")
      updatedAt = value.time("updatedAt")
    }
  }

  public let activeSharerCount: Int?
  public let subscribedTargetUserId: String?
  public let decodeInFlight: Bool?, ffmpegAvailable: Bool?
  public let lastDecodeAttemptAt: Timestamp?, lastDecodeSuccessAt: Timestamp?
  public let lastDecodeFailureAt: Timestamp?
  public let lastDecodeFailureReason: String?
  public let activeSharers: [Sharer]

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
