package import Core

/// The provider that the session speaks through.
package struct VoiceRealtime: Sendable {
  package let provider: String?
  package let inputSampleRateHz: Int?, outputSampleRateHz: Int?
  package let recentVoiceTurns: Int?
  /// Replies that were overtaken by newer words.
  package let replySuperseded: Int?
  package let pendingTurns: Int
  package let drainActive: Bool?, coalesceActive: Bool?
  package let state: VoiceRealtimeState?
}

/// The link to the provider.
package struct VoiceRealtimeState: Sendable {
  /// Something that was sent to the provider.
  package struct Event: Sendable {
    package let type: String?
    package let at: Timestamp?
  }

  package let connected: Bool?
  package let connectedAt: Timestamp?, lastEventAt: Timestamp?
  package let sessionId: String?, lastError: String?
  package let lastCloseCode: Int?
  package let lastCloseReason: String?
  package let lastEventType: String?
  package let lastOutboundEventType: String?
  package let lastOutboundEventAt: Timestamp?
  package let activeResponseId: String?, activeResponseStatus: String?
  /// Oldest first.
  package let recentOutboundEvents: [Event]
  /// Of some providers only.
  package let model: String?
  package let utteranceCount: Int?
  package let setupComplete: Bool?, pendingResponseActive: Bool?
}

/// What the bot's own voice does.
package struct VoiceOutput: Sendable {
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  package let phase: String?
  package let phaseEnteredAt: Timestamp?
}

/// One recogniser of speech: of a person, or of everybody.
package struct VoiceASRSession: Sendable {
  /// What is being said and is not yet a turn.
  package struct Utterance: Sendable {
    package var partialText: String?
    /// How many segments are final.
    package var finalSegments: Int?
    package var bytesSent: Int?

    /// Nothing yet.
    package init() {}
  }

  package var userId: String?, displayName: String?
  package var connected: Bool?
  /// `idle`, `connecting`, `ready`, `committing`, `closing`; also when only the
  /// older `closing` says so.
  package var phase: String?
  package var lastAudioAt: Timestamp?, lastTranscriptAt: Timestamp?
  package var idleMs: Double?, idleTtlMs: Double?
  package var pendingAudioBytes: Int?, pendingAudioChunks: Int?
  package var utterance: Utterance?
  package var model: String?
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard = false

  /// The recogniser of someone of whose words an event tells.
  package init(heard userId: String, _ displayName: String, at time: Timestamp?) {
    (self.userId, self.displayName, lastAudioAt) = (userId, displayName, time)
    (connected, phase, isHeard) = (true, "ready", true)
  }
}

/// Turns that wait to be recognised as files.
package struct VoiceBatchASR: Sendable {
  package let pendingTurns: Int
  package let contextMessages: Int?
}
