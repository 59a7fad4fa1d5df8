/// What the answering model knew when it last made an answer.
public struct VoiceGenerationContext: Sendable {
  /// A message of the talk.
  public struct Message: Sendable {
    public let role: String?
    public let content: String?

    init(_ value: JSONValue) {
      role = value.text("role")
      content = value.text("content")
    }
  }

  public let capturedAt: Timestamp?
  public let source: String?, mode: String?
  public let incomingTranscript: String?, speakerName: String?
  public let directAddressed: Bool?, isEagerTurn: Bool?
  public let contextMessages: [Message]
  public let conversationContext: VoiceTalkContext?
  public let participantRoster: [String]
  public let membershipEvents: [VoiceMembershipEvent]
  public let memoryFacts: VoiceFacts
  public let durableContext: [VoiceNote]
  public let sessionTiming: VoiceTiming?
  /// The tools by name and whether the model could use them, in the order of the wire.
  public let tools: [(name: String, isOn: Bool)]
  public let soundboardCandidateCount: Int?, activityReactivity: Int?, soundboardEagerness: Int?
  public let llmConfig: VoiceModelConfig?

  init(_ value: JSONValue) {
    capturedAt = value.time("capturedAt")
    source = value.text("source")
    mode = value.text("mode")
    incomingTranscript = value.text("incomingTranscript")
    speakerName = value.text("speakerName")
    directAddressed = value.bool("directAddressed")
    isEagerTurn = value.bool("isEagerTurn")
    contextMessages = value.list(Message.init, "contextMessages")
    conversationContext = value.part(VoiceTalkContext.init, "conversationContext")
    participantRoster = value.texts("participantRoster")
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    // Beside the session's own turn, the facts lie one level higher.
    memoryFacts = VoiceFacts(value["memoryFacts"] ?? value)
    durableContext = value.list(VoiceNote.init, "durableContext")
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
public struct VoiceTalkContext: Sendable {
  public let attentionMode: String?
  public let currentSpeakerActive: Bool?, recentAssistantReply: Bool?, recentDirectAddress: Bool?
  public let msSinceAssistantReply: Double?, msSinceDirectAddress: Double?
  public let streamWatchNotes: [String]
  /// Whom the speaker talks to, and how sure that is, 0 to 1.
  public let talkingTo: String?
  public let confidence: Double?

  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    currentSpeakerActive = value.bool("currentSpeakerActive")
    recentAssistantReply = value.bool("recentAssistantReply")
    recentDirectAddress = value.bool("recentDirectAddress")
    msSinceAssistantReply = value.double("msSinceAssistantReply")
    msSinceDirectAddress = value.double("msSinceDirectAddress")
    streamWatchNotes = value.texts("streamWatchNotes")
    talkingTo = value["addressing"]?.text("talkingTo")
    confidence = value["addressing"]?.double("confidence", "directedConfidence")
  }
}

/// The time that the session had left.
public struct VoiceTiming: Sendable {
  public let timeoutWarningActive: Bool?
  public let timeoutWarningReason: String?
  /// Milliseconds; some servers send seconds, see the initializer.
  public let maxRemainingMs: Double?, inactivityRemainingMs: Double?

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
public struct VoiceModelConfig: Sendable {
  public let provider: String?, model: String?
  public let temperature: Double?
  public let maxOutputTokens: Int?

  init(_ value: JSONValue) {
    provider = value.text("provider")
    model = value.text("model")
    temperature = value.double("temperature")
    maxOutputTokens = value.int("maxOutputTokens")
  }
}
