import Core

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
