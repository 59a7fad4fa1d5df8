package import Core

/// Whom the bot listens to, and what it knows of the talk.
package struct VoiceConversation: VoicePart {
  let json: JSONValue?
  package var lastAssistantReplyAt: Timestamp?
  package var lastDirectAddressAt: Timestamp?
  package var lastDirectAddressUserId: String?
  package var musicWakeLatchedUntil: Timestamp? { value() }
  package var musicWakeLatchedByUserId: String? { value() }
  package var wake: VoiceWake?
  package var thoughtEngine: VoiceThoughtEngine? { value() }
  /// Who talks to whom, oldest first.
  package var addressingGuesses: [VoiceAddressingGuess] {
    json?["addressing"]?.list(VoiceAddressingGuess.init(json:), "recentAddressingGuesses") ?? []
  }
  package var modelContext: VoiceModelContext? { value() }

  /// What a state says of it; nil for nothing.
  package init(json: JSONValue? = nil) {
    self.json = json
    lastAssistantReplyAt = value("lastAssistantReplyAt")
    lastDirectAddressAt = value("lastDirectAddressAt")
    lastDirectAddressUserId = value("lastDirectAddressUserId")
    wake = value("wake")
  }
}

/// Whether the bot takes what is said as meant for it, and why.
package struct VoiceWake: VoicePart {
  let json: JSONValue?
  /// `ACTIVE` or `AMBIENT`.
  package var attentionMode: String?
  package var active: Bool?
  package var msSinceAssistantReply: Double? { value() }
  package var msSinceDirectAddress: Double? { value() }
  /// How long a reply or an address keeps the bot awake.
  package var windowMs: Double? { value() }

  init(json: JSONValue?) {
    self.json = json
    attentionMode = value("attentionMode")
    active = value("active")
  }

  /// As an event tells it.
  init(attentionMode: String) {
    (json, self.attentionMode, active) = (nil, attentionMode, attentionMode == "ACTIVE")
  }
}

/// A guess at who talks to whom.
package struct VoiceAddressingGuess: VoicePart {
  let json: JSONValue?
  package var speakerName: String? { value() }
  package var talkingTo: String? { value() }
  /// 0 to 1.
  package var directedConfidence: Double? { value() }
}

/// What the bot thinks of saying without being asked.
package struct VoiceThoughtEngine: VoicePart {
  let json: JSONValue?
  package var busy: Bool? { value() }
  package var nextAttemptAt: Timestamp? { value() }
  package var lastAttemptAt: Timestamp? { value() }
  package var lastSpokenAt: Timestamp? { value() }
  package var pendingThought: VoiceThought? { value() }
}

/// A thought that waits for its moment.
package struct VoiceThought: VoicePart {
  let json: JSONValue?
  /// `queued` or `reconsider`.
  package var status: String? { value() }
  package var text: String? { value() }
  package var draftText: String? { value() }
  package var lastDecisionReason: String? { value() }
  /// `hold`, `speak_now` or `drop`.
  package var lastDecisionAction: String? { value() }
  package var invalidationReason: String? { value() }
}

/// How much of the talk the models were given.
package struct VoiceModelContext: VoicePart {
  /// One model's share.
  package struct Share: VoicePart {
    let json: JSONValue?
    /// Turns that there were, that were sent, that may be sent.
    package var availableTurns: Int? { value() }
    package var sentTurns: Int? { value() }
    package var maxTurns: Int? { value() }
    package var contextChars: Int? { value() }
    package var transcriptChars: Int? { value() }
    /// Of the decider only.
    package var promptHistoryChars: Int? { value() }
  }

  let json: JSONValue?
  package var generation: Share? { value() }
  package var decider: Share? { value() }
  package var trackedTurns: Int? { value() }
  package var trackedTurnLimit: Int? { value() }
  package var trackedTranscriptTurns: Int? { value() }
}

/// What the answering model knew when it last made an answer.
package struct VoiceGenerationContext: VoicePart {
  let json: JSONValue?
  package var capturedAt: Timestamp? { value() }
  package var source: String? { value() }
  package var mode: String? { value() }
  package var incomingTranscript: String? { value() }
  package var speakerName: String? { value() }
  package var directAddressed: Bool? { value() }
  package var isEagerTurn: Bool? { value() }
  /// The bytes of each message of the talk.
  package var contextMessages: [Int] {
    json?.list({ $0.text("content")?.utf8.count ?? 0 }, "contextMessages") ?? []
  }
  package var conversationContext: VoiceTalkContext? { value() }
  package var participantRoster: [String] { value() }
  package var membershipEvents: [VoiceMembershipEvent] { value() }
  /// Beside the session's own turn, the facts lie one level higher.
  package var memoryFacts: VoiceFacts { VoiceFacts(json: json?["memoryFacts"] ?? json) }
  /// How many notes of the session.
  package var durableNotes: Int { json?.objects("durableContext") ?? 0 }
  package var sessionTiming: VoiceTiming? { value() }
  /// The tools by name and whether the model could use them, in the order of the backend.
  package var tools: [(name: String, isOn: Bool)] {
    json?["tools"]?.members.prefix(100).compactMap { member in
      member.value.bool.map { (member.name, $0) }
    } ?? []
  }
  package var soundboardCandidateCount: Int? { value() }
  package var activityReactivity: Int? { value() }
  package var soundboardEagerness: Int? { value() }
  package var llmConfig: VoiceModelConfig? { value() }
}

/// The state of the talk as the model was told.
package struct VoiceTalkContext: VoicePart {
  let json: JSONValue?
  package var attentionMode: String? { value() }
  package var streamWatchNotes: [String] { value() }
  /// Whom the speaker talks to, and how sure that is, 0 to 1.
  package var talkingTo: String? { json?["addressing"]?.text("talkingTo") }
  package var confidence: Double? {
    let addressing = json?["addressing"]
    return addressing?.double("confidence") ?? addressing?.double("directedConfidence")
  }
}

/// The time that the session had left.
package struct VoiceTiming: VoicePart {
  let json: JSONValue?
  package var timeoutWarningActive: Bool? { value() }
  package var timeoutWarningReason: String? { value() }
  /// Milliseconds, which are sent as such or as seconds.
  package var maxRemainingMs: Double? { value() ?? milliseconds("maxSecondsRemaining") }
  package var inactivityRemainingMs: Double? {
    value() ?? milliseconds("inactivitySecondsRemaining")
  }

  private func milliseconds(_ name: String) -> Double? { json?.double(name).map { $0 * 1000 } }
}

/// The model that answers.
package struct VoiceModelConfig: VoicePart {
  let json: JSONValue?
  package var provider: String? { value() }
  package var model: String? { value() }
  package var temperature: Double? { value() }
  package var maxOutputTokens: Int? { value() }
}

/// How many facts the session has loaded.
package struct VoiceMemory: VoicePart {
  let json: JSONValue?
  /// The people of whom something may be known, and the facts about them all.
  package var people: Int { json?.objects("factProfiles") ?? 0 }
  package var userFacts: Int {
    json?.list({ $0.objects("userFacts") }, "factProfiles").reduce(0, +) ?? 0
  }
  /// Facts about the bot itself, and about the guild.
  package var selfFacts: Int { json?["guildFactProfile"]?.objects("selfFacts") ?? 0 }
  package var loreFacts: Int { json?["guildFactProfile"]?.objects("loreFacts") ?? 0 }
}

/// How many facts a model was given, by what they are for.
package struct VoiceFacts: VoicePart {
  let json: JSONValue?
  package var userFacts: Int { json?.objects("userFacts") ?? 0 }
  package var relevantFacts: Int { json?.objects("relevantFacts") ?? 0 }
  package var guidanceFacts: Int { json?.objects("guidanceFacts") ?? 0 }
  package var behavioralFacts: Int { json?.objects("behavioralFacts") ?? 0 }

  /// How many there are.
  package var count: Int { userFacts + relevantFacts + guidanceFacts + behavioralFacts }
}

/// The prompts that the session's models were last given.
package struct VoicePromptState: VoicePart {
  let json: JSONValue?
  package var instructions: VoicePrompt? { value() }
  package var classifier: VoicePrompt? { value() }
  package var generation: VoicePrompt? { value() }
  package var bridge: VoicePrompt? { value() }
}

/// One model's prompts. They are private texts: shown only when asked for.
package struct VoicePrompt: VoicePart {
  let json: JSONValue?
  private var bundle: JSONValue? { json?["replyPrompts"] }
  package var updatedAt: Timestamp? { value() }
  package var systemPrompt: VoiceText { VoiceText(bundle?["systemPrompt"]) }
  package var initialUserPrompt: VoiceText { VoiceText(bundle?["initialUserPrompt"]) }
  package var followupUserPrompts: [VoiceText] {
    bundle?["followupUserPrompts"]?.elements.map { VoiceText($0) } ?? []
  }
  package var followupSteps: Int? { bundle?.int("followupSteps") }
  package var tools: [VoiceTool] { bundle?.list(VoiceTool.init(json:), "tools") ?? [] }
  /// The parts that the prompt may be made of, and whether each is in it.
  package var promptTiers: [Bool] {
    bundle?.list({ $0.bool("present") == true }, "promptTiers") ?? []
  }

  /// The bytes of UTF-8 of all its texts.
  package var byteCount: Int {
    followupUserPrompts.reduce(systemPrompt.byteCount + initialUserPrompt.byteCount) {
      $0 + $1.byteCount
    }
  }
}

/// A text that may be very long, read only as far as it is wanted.
package struct VoiceText: Sendable {
  private let value: JSONValue?

  /// - Parameter value: a string; anything else is an empty text.
  package init(_ value: JSONValue?) { self.value = value }

  /// The length in bytes of UTF-8, known without reading it.
  package var byteCount: Int { value?.byteCount ?? 0 }

  /// Whether there is nothing.
  package var isEmpty: Bool { byteCount == 0 }

  /// The whole text.
  package var whole: String { value?.string ?? "" }

  /// The beginning, at most so many bytes of UTF-8.
  package func beginning(bytes limit: Int) -> String { value?.string(bytes: limit) ?? "" }
}
