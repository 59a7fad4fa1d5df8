package import Core

/// What the bot sees of a shared screen.
package struct VoiceStreamWatch: Sendable {
  /// Something seen.
  package struct Seen: Sendable {
    package var text: String?
    package var at: Timestamp?
    package var speakerName: String?
  }

  package var active = false
  package var targetUserId: String?, requestedByUserId: String?
  package var lastFrameAt: Timestamp?
  package var lastCommentaryAt: Timestamp?
  package var lastCommentaryNote: String?
  package var lastMemoryRecapAt: Timestamp?
  package var lastMemoryRecapText: String?
  package var lastMemoryRecapDurableSaved: Bool?
  package var latestFrameAt: Timestamp?
  package var latestFrameMimeType: String?
  package var latestFrameApproxBytes: Int?
  package var acceptedFrameCountInWindow: Int?
  package var frameWindowStartedAt: Timestamp?
  package var ingestedFrameCount: Int?
  package var lastNoteAt: Timestamp?
  package var lastNoteProvider: String?, lastNoteModel: String?
  package var noteCount: Int?
  /// What was seen, oldest first.
  package var visualFeed: [Seen] = []
  package var notePayload: VoiceNotePayload?
  package var nativeDiscord: VoiceNativeStream?

  /// Nothing seen yet.
  ///
  /// - Parameter active: whether a screen is watched.
  package init(active: Bool) { self.active = active }
}

/// What the answering model is told of the screen.
package struct VoiceNotePayload: Sendable {
  /// Each ends in its age: `(12s ago)`.
  package let notes: [String]
  package let lastAt: Timestamp?
  package let provider: String?, model: String?
}

/// Screens shared over Discord itself.
package struct VoiceNativeStream: Sendable {
  /// Someone who shares a screen.
  package struct Sharer: Sendable {
    package let userId: String?, displayName: String?, codec: String?
  }

  package let decodeInFlight: Bool?, ffmpegAvailable: Bool?
  package let lastDecodeSuccessAt: Timestamp?
  package let lastDecodeFailureAt: Timestamp?
  package let lastDecodeFailureReason: String?
  package let activeSharers: [Sharer]
}
