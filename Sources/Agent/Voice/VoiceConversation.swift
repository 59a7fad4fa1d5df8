package import Core

/// Whom the bot listens to, and what it knows of the talk.
package struct VoiceConversation: Sendable {
  package var lastAssistantReplyAt: Timestamp?
  package var lastDirectAddressAt: Timestamp?
  package var lastDirectAddressUserId: String?
  package var musicWakeLatchedUntil: Timestamp?
  package var musicWakeLatchedByUserId: String?
  package var wake: VoiceWake?
  package var thoughtEngine: VoiceThoughtEngine?
  /// Who talks to whom, oldest first.
  package var addressingGuesses: [VoiceAddressingGuess] = []
  package var modelContext: VoiceModelContext?

  /// Nothing known.
  package init() {}
}

/// Whether the bot takes what is said as meant for it, and why.
package struct VoiceWake: Sendable {
  /// `ACTIVE` or `AMBIENT`.
  package var attentionMode: String?
  package var active: Bool?
  package var msSinceAssistantReply: Double?, msSinceDirectAddress: Double?
  /// How long a reply or an address keeps the bot awake.
  package var windowMs: Double?
}

/// A guess at who talks to whom.
package struct VoiceAddressingGuess: Sendable {
  package let speakerName: String?, talkingTo: String?
  /// 0 to 1.
  package let directedConfidence: Double?
}

/// What the bot thinks of saying without being asked.
package struct VoiceThoughtEngine: Sendable {
  package let busy: Bool?
  package let nextAttemptAt: Timestamp?, lastAttemptAt: Timestamp?, lastSpokenAt: Timestamp?
  package let pendingThought: VoiceThought?
}

/// A thought that waits for its moment.
package struct VoiceThought: Sendable {
  /// `queued` or `reconsider`.
  package let status: String?
  package let text: String?, draftText: String?
  package let lastDecisionReason: String?
  /// `hold`, `speak_now` or `drop`.
  package let lastDecisionAction: String?
  package let invalidationReason: String?
}

/// How much of the talk the models were given.
package struct VoiceModelContext: Sendable {
  /// One model's share.
  package struct Share: Sendable {
    /// Turns that there were, that were sent, that may be sent.
    package let availableTurns: Int?, sentTurns: Int?, maxTurns: Int?
    package let contextChars: Int?, transcriptChars: Int?
    /// Of the decider only.
    package let promptHistoryChars: Int?
  }

  package let generation: Share?, decider: Share?
  package let trackedTurns: Int?, trackedTurnLimit: Int?, trackedTranscriptTurns: Int?
}

/// Someone in the voice channel.
package struct VoiceParticipant: Sendable {
  package var userId: String?, displayName: String?

  /// - Parameters: as the members.
  package init(userId: String?, displayName: String?) {
    (self.userId, self.displayName) = (userId, displayName)
  }
}

/// Someone who speaks now.
package struct VoiceCapture: Sendable {
  package var userId: String?, displayName: String?
  package var startedAt: Timestamp?
  package var ageMs: Double?
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard = false

  /// Someone of whom an event tells.
  package init(heard userId: String, _ displayName: String?, at time: Timestamp) {
    (self.userId, self.displayName, startedAt) = (userId, displayName, time)
    isHeard = true
  }
}

/// The speaker that the bot attends to.
package struct VoiceFocus: Sendable {
  package let userId: String?, displayName: String?
  package let since: Timestamp?
}

/// Someone came or went.
package struct VoiceMembershipEvent: Sendable {
  package var userId: String?, displayName: String?
  /// `join` or `leave`.
  package var eventType: String?
  package var at: Timestamp?
  package var ageMs: Double?
}

/// One thing that was said, thought, or happened in the channel.
package struct VoiceTurn: Sendable {
  /// `speech`, `thought`, `membership`, `effect`; nil where it is not told.
  package var kind: String?
  /// `user` or `assistant`.
  package var role: String?
  /// `YOU` for a thought of the bot.
  package var speakerName: String?
  package var text: String
  package var at: Timestamp?

  /// What somebody said.
  package init(_ text: String, by speakerName: String?, role: String, at: Timestamp?) {
    (self.text, self.speakerName, self.role, self.at) = (text, speakerName, role, at)
    kind = "speech"
  }
}
