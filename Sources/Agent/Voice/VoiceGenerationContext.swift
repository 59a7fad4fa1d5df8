package import Core

/// What the answering model knew when it last made an answer.
package struct VoiceGenerationContext: Sendable {
  package let capturedAt: Timestamp?
  package let source: String?, mode: String?
  package let incomingTranscript: String?, speakerName: String?
  package let directAddressed: Bool?, isEagerTurn: Bool?
  /// The bytes of each message of the talk.
  package let contextMessages: [Int]
  package let conversationContext: VoiceTalkContext?
  package let participantRoster: [String]
  package let membershipEvents: [VoiceMembershipEvent]
  package let memoryFacts: VoiceFacts
  /// How many notes of the session.
  package let durableNotes: Int
  package let sessionTiming: VoiceTiming?
  /// The tools by name and whether the model could use them, in the order of the backend.
  package let tools: [(name: String, isOn: Bool)]
  package let soundboardCandidateCount: Int?, activityReactivity: Int?, soundboardEagerness: Int?
  package let llmConfig: VoiceModelConfig?
}

/// The state of the talk as the model was told.
package struct VoiceTalkContext: Sendable {
  package let attentionMode: String?
  package let streamWatchNotes: [String]
  /// Whom the speaker talks to, and how sure that is, 0 to 1.
  package let talkingTo: String?
  package let confidence: Double?
}

/// The time that the session had left.
package struct VoiceTiming: Sendable {
  package let timeoutWarningActive: Bool?
  package let timeoutWarningReason: String?
  /// Milliseconds.
  package let maxRemainingMs: Double?, inactivityRemainingMs: Double?
}

/// The model that answers.
package struct VoiceModelConfig: Sendable {
  package let provider: String?, model: String?
  package let temperature: Double?
  package let maxOutputTokens: Int?
}

/// How many facts the session has loaded.
package struct VoiceMemory: Sendable {
  /// The people of whom something may be known, and the facts about them all.
  package let people: Int, userFacts: Int
  /// Facts about the bot itself, and about the guild.
  package let selfFacts: Int, loreFacts: Int
}

/// How many facts a model was given, by what they are for.
package struct VoiceFacts: Sendable {
  package let userFacts: Int, relevantFacts: Int, guidanceFacts: Int, behavioralFacts: Int

  /// How many there are.
  package var count: Int { userFacts + relevantFacts + guidanceFacts + behavioralFacts }
}

/// The prompts that the session's models were last given.
package struct VoicePromptState: Sendable {
  package let instructions: VoicePrompt?, classifier: VoicePrompt?
  package let generation: VoicePrompt?, bridge: VoicePrompt?
}

/// One model's prompts. They are private texts: shown only when asked for.
package struct VoicePrompt: Sendable {
  package let updatedAt: Timestamp?
  package let systemPrompt: VoiceText, initialUserPrompt: VoiceText
  package let followupUserPrompts: [VoiceText]
  package let followupSteps: Int?
  package let tools: [VoiceTool]
  /// The parts that the prompt may be made of, and whether each is in it.
  package let promptTiers: [Bool]

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
