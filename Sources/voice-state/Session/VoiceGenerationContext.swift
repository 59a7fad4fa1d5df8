import Core

/// What the answering model knew when it last made an answer.
struct VoiceGenerationContext: Sendable {
  let capturedAt: Timestamp?
  let source: String?, mode: String?
  let incomingTranscript: String?, speakerName: String?
  let directAddressed: Bool?, isEagerTurn: Bool?
  /// The bytes of each message of the talk.
  let contextMessages: [Int]
  let conversationContext: VoiceTalkContext?
  let participantRoster: [String]
  let membershipEvents: [VoiceMembershipEvent]
  let memoryFacts: VoiceFacts
  /// How many notes of the session.
  let durableNotes: Int
  let sessionTiming: VoiceTiming?
  /// The tools by name and whether the model could use them, in the order of the wire.
  let tools: [(name: String, isOn: Bool)]
  let soundboardCandidateCount: Int?, activityReactivity: Int?, soundboardEagerness: Int?
  let llmConfig: VoiceModelConfig?

  init(_ value: JSONValue) {
    capturedAt = value.time("capturedAt")
    source = value.text("source")
    mode = value.text("mode")
    incomingTranscript = value.text("incomingTranscript")
    speakerName = value.text("speakerName")
    directAddressed = value.bool("directAddressed")
    isEagerTurn = value.bool("isEagerTurn")
    contextMessages = value.list(
      { $0.text("content")?.utf8.count ?? 0 }, "contextMessages")
    conversationContext = value.part(VoiceTalkContext.init, "conversationContext")
    participantRoster = value.texts("participantRoster")
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    // Beside the session's own turn, the facts lie one level higher.
    memoryFacts = VoiceFacts(value["memoryFacts"] ?? value)
    durableNotes = value.objects("durableContext")
    sessionTiming = value.part(VoiceTiming.init, "sessionTiming")
    tools =
      value["tools"]?.members.prefix(100).compactMap { member in
        member.value.bool.map { (member.name, $0) }
      } ?? []
    soundboardCandidateCount = value.int("soundboardCandidateCount")
    activityReactivity = value.int("activityReactivity")
    soundboardEagerness = value.int("soundboardEagerness")
    llmConfig = value.part(VoiceModelConfig.init, "llmConfig")
  }
}

/// The state of the talk as the model was told.
struct VoiceTalkContext: Sendable {
  let attentionMode: String?
  let streamWatchNotes: [String]
  /// Whom the speaker talks to, and how sure that is, 0 to 1.
  let talkingTo: String?
  let confidence: Double?

  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    streamWatchNotes = value.texts("streamWatchNotes")
    talkingTo = value["addressing"]?.text("talkingTo")
    confidence = value["addressing"]?.double("confidence", "directedConfidence")
  }
}

/// The time that the session had left.
struct VoiceTiming: Sendable {
  let timeoutWarningActive: Bool?
  let timeoutWarningReason: String?
  /// Milliseconds; some servers send seconds, see the initializer.
  let maxRemainingMs: Double?, inactivityRemainingMs: Double?

  init(_ value: JSONValue) {
    timeoutWarningActive = value.bool("timeoutWarningActive")
    timeoutWarningReason = value.text("timeoutWarningReason")
    maxRemainingMs =
      value.double("maxRemainingMs") ?? value.double("maxSecondsRemaining").map { $0 * 1000 }
    inactivityRemainingMs =
      value.double("inactivityRemainingMs")
      ?? value.double("inactivitySecondsRemaining").map { $0 * 1000 }
  }
}

/// The model that answers.
struct VoiceModelConfig: Sendable {
  let provider: String?, model: String?
  let temperature: Double?
  let maxOutputTokens: Int?

  init(_ value: JSONValue) {
    provider = value.text("provider")
    model = value.text("model")
    temperature = value.double("temperature")
    maxOutputTokens = value.int("maxOutputTokens")
  }
}

/// How many facts the session has loaded.
struct VoiceMemory: Sendable {
  /// The people of whom something may be known, and the facts about them all.
  let people: Int, userFacts: Int
  /// Facts about the bot itself, and about the guild.
  let selfFacts: Int, loreFacts: Int

  init(_ value: JSONValue) {
    let profiles = value.list({ $0.objects("userFacts") }, "factProfiles")
    people = profiles.count
    userFacts = profiles.reduce(0, +)
    selfFacts = value["guildFactProfile"]?.objects("selfFacts") ?? 0
    loreFacts = value["guildFactProfile"]?.objects("loreFacts") ?? 0
  }
}

/// How many facts a model was given, by what they are for.
struct VoiceFacts: Sendable {
  let userFacts: Int, relevantFacts: Int, guidanceFacts: Int, behavioralFacts: Int

  init(_ value: JSONValue) {
    userFacts = value.objects("userFacts")
    relevantFacts = value.objects("relevantFacts")
    guidanceFacts = value.objects("guidanceFacts")
    behavioralFacts = value.objects("behavioralFacts")
  }

  /// How many there are.
  var count: Int { userFacts + relevantFacts + guidanceFacts + behavioralFacts }
}

/// The prompts that the session's models were last given.
struct VoicePromptState: Sendable {
  let instructions: VoicePrompt?, classifier: VoicePrompt?
  let generation: VoicePrompt?, bridge: VoicePrompt?

  init(_ value: JSONValue) {
    instructions = value.part(VoicePrompt.init, "instructions")
    classifier = value.part(VoicePrompt.init, "classifier")
    generation = value.part(VoicePrompt.init, "generation")
    bridge = value.part(VoicePrompt.init, "bridge")
  }
}

/// One model's prompts. They are private texts: shown only when asked for.
struct VoicePrompt: Sendable {
  let updatedAt: Timestamp?
  let systemPrompt: VoiceText, initialUserPrompt: VoiceText
  let followupUserPrompts: [VoiceText]
  let followupSteps: Int?
  let tools: [VoiceTool]
  /// The parts that the prompt may be made of, and whether each is in it.
  let promptTiers: [Bool]

  init(_ value: JSONValue) {
    updatedAt = value.time("updatedAt")
    let bundle = value["replyPrompts"]
    systemPrompt = VoiceText(bundle?["systemPrompt"])
    initialUserPrompt = VoiceText(bundle?["initialUserPrompt"])
    followupUserPrompts = bundle?["followupUserPrompts"]?.elements.map { VoiceText($0) } ?? []
    followupSteps = bundle?.int("followupSteps")
    tools = bundle?.list(VoiceTool.init, "tools") ?? []
    promptTiers = bundle?.list({ $0.bool("present") == true }, "promptTiers") ?? []
  }

  /// The bytes of UTF-8 of all its texts.
  var byteCount: Int {
    followupUserPrompts.reduce(systemPrompt.byteCount + initialUserPrompt.byteCount) {
      $0 + $1.byteCount
    }
  }
}

/// A text that may be very long, read only as far as it is wanted.
struct VoiceText: Sendable {
  private let value: JSONValue?

  /// - Parameter value: a string; anything else is an empty text.
  init(_ value: JSONValue?) { self.value = value }

  /// The length in bytes of UTF-8, known without reading it.
  var byteCount: Int { value?.byteCount ?? 0 }

  /// Whether there is nothing.
  var isEmpty: Bool { byteCount == 0 }

  /// The whole text.
  var whole: String { value?.string ?? "" }

  /// The beginning, at most so many bytes of UTF-8.
  func beginning(bytes limit: Int) -> String { value?.string(bytes: limit) ?? "" }
}
