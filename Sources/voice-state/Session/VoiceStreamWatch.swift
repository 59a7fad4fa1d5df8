import Core

/// What the bot sees of a shared screen. Two spellings: notes were called brain
/// context before.
struct VoiceStreamWatch: Sendable {
  /// Something seen.
  struct Seen: Sendable {
    var text: String?
    var at: Timestamp?
    var speakerName: String?
  }

  var active = false
  var targetUserId: String?, requestedByUserId: String?
  var lastFrameAt: Timestamp?
  var lastCommentaryAt: Timestamp?
  var lastCommentaryNote: String?
  var lastMemoryRecapAt: Timestamp?
  var lastMemoryRecapText: String?
  var lastMemoryRecapDurableSaved: Bool?
  var latestFrameAt: Timestamp?
  var latestFrameMimeType: String?
  var latestFrameApproxBytes: Int?
  var acceptedFrameCountInWindow: Int?
  var frameWindowStartedAt: Timestamp?
  var ingestedFrameCount: Int?
  var lastNoteAt: Timestamp?
  var lastNoteProvider: String?, lastNoteModel: String?
  var noteCount: Int?
  /// What was seen, oldest first.
  var visualFeed: [Seen] = []
  var notePayload: VoiceNotePayload?
  var nativeDiscord: VoiceNativeStream?
}

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

/// What the answering model is told of the screen.
struct VoiceNotePayload: Sendable {
  /// Each ends in its age: `(12s ago)`.
  let notes: [String]
  let lastAt: Timestamp?
  let provider: String?, model: String?

  init(_ value: JSONValue) {
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

    init(_ value: JSONValue) {
      userId = value.text("userId")
      displayName = value.text("displayName")
      codec = value.text("codec")
    }
  }

  let decodeInFlight: Bool?, ffmpegAvailable: Bool?
  let lastDecodeSuccessAt: Timestamp?
  let lastDecodeFailureAt: Timestamp?
  let lastDecodeFailureReason: String?
  let activeSharers: [Sharer]

  init(_ value: JSONValue) {
    decodeInFlight = value.bool("decodeInFlight")
    ffmpegAvailable = value.bool("ffmpegAvailable")
    lastDecodeSuccessAt = value.time("lastDecodeSuccessAt")
    lastDecodeFailureAt = value.time("lastDecodeFailureAt")
    lastDecodeFailureReason = value.text("lastDecodeFailureReason")
    activeSharers = value.list(Sharer.init, "activeSharers")
  }
}
