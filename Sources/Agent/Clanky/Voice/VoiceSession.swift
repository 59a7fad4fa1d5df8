package import Core

/// One voice session with everything of it that is shown: what its last state
/// said, and what events have changed since.
///
/// The members have the names that Clanky gives them (Agent/Clanky/CONTRACT.md 4), the one
/// backend with voice so far. Ages and durations are milliseconds at the time the state was
/// taken; instants are `Timestamp`.
package struct VoiceSession: VoicePart {
  let json: JSONValue?
  package var sessionId: String?
  package var guildId: String?, voiceChannelId: String?, textChannelId: String?
  /// What whoever asked for the session found out; no session says it.
  package var guildName: String?
  package var startedAt: Timestamp?, lastActivityAt: Timestamp?
  /// When the session ends in any case, and when it ends if nobody speaks.
  package var maxEndsAt: Timestamp?
  package var inactivityEndsAt: Timestamp? { value() }
  /// `openai_realtime`, `voice_agent` and others; see `modeLabel`.
  package var mode: String?

  /// How many people speak, as the server counts; and who they are.
  package var activeInputStreams = 0
  package var activeCaptures: [VoiceCapture] = []
  /// Everyone in the channel but the bot.
  package var participants: [VoiceParticipant] = []
  package var participantCount = 0
  /// Who came and went, oldest first.
  package var membershipEvents: [VoiceMembershipEvent] = []

  /// Whether the bot began to speak a moment ago.
  package var botTurnOpen = false
  package var assistantOutput: VoiceOutput? { value() }
  /// Whether the bot is ready to play sound.
  package var isPlaybackArmed: Bool? { json?["playbackArm"]?.bool("armed") }
  /// The speaker that the bot listens to where one is told.
  package var focusedSpeaker: VoiceFocus? { value() }
  package var conversation: VoiceConversation?
  /// What was said, oldest first.
  package var recentTurns: [VoiceTurn] = []
  package var pendingDeferredTurns: Int { value() ?? 0 }

  package var asrSessions: [VoiceASRSession] = []
  /// The one recogniser for everybody, where there is one.
  package var sharedAsrSession: VoiceASRSession? { value() }
  package var batchAsr: VoiceBatchASR? { value() }
  package var realtime: VoiceRealtime? { value() }
  package var latency: VoiceLatency?

  package var brainTools: [VoiceTool] { value() }
  /// Tool calls, oldest first.
  package var toolCalls: [VoiceToolCall] = []
  package var mcpStatus: [VoiceMCPServer] { value() }

  package var promptState: VoicePromptState? { value() }
  package var lastGenerationContext: VoiceGenerationContext? { value() }
  package var memory: VoiceMemory? { value() }
  /// How many notes the session keeps.
  package var durableNotes: Int { json?.objects("durableContext") ?? 0 }

  package var streamWatch: VoiceStreamWatch?
  package var music: VoiceMusic?
  package var soundboard: VoiceSoundboard?

  /// A session as a state tells of it; nil for one of which nothing is known.
  package init(json: JSONValue? = nil) {
    self.json = json
    sessionId = value("sessionId")
    guildId = value("guildId")
    voiceChannelId = value("voiceChannelId")
    textChannelId = value("textChannelId")
    startedAt = value("startedAt")
    lastActivityAt = value("lastActivityAt")
    maxEndsAt = value("maxEndsAt")
    mode = value("mode")
    activeCaptures = value("activeCaptures")
    activeInputStreams = value("activeInputStreams") ?? activeCaptures.count
    participants = value("participants")
    participantCount = value("participantCount") ?? participants.count
    membershipEvents = value("membershipEvents")
    botTurnOpen = value("botTurnOpen") ?? false
    conversation = value("conversation")
    recentTurns = value("recentTurns")
    asrSessions = value("asrSessions")
    latency = value("latency")
    toolCalls = value("toolCalls")
    streamWatch = value("streamWatch")
    music = value("music")
    soundboard = value("soundboard")
  }

  /// Turns that wait anywhere: for recognition, for the provider, put off.
  package var pendingTurns: Int {
    (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) + pendingDeferredTurns
  }

  /// The mode in the dashboard's words: `OpenAI RT`; an unknown mode as sent.
  package var modeLabel: String? {
    switch mode {
    case "voice_agent": "Voice Agent"
    case "openai_realtime": "OpenAI RT"
    case "gemini_realtime": "Gemini RT"
    case "elevenlabs_realtime": "ElevenLabs API"
    case "xai_realtime": "xAI RT"
    default: mode
    }
  }

  /// Whether the bot takes what is said as meant for it: `conversation.wake`,
  /// else within 35 s of its reply or of a direct address.
  package func isAwake(at now: Timestamp) -> Bool {
    if let active = conversation?.wake?.active { return active }
    return [conversation?.lastAssistantReplyAt, conversation?.lastDirectAddressAt].contains {
      guard let time = $0 else { return false }
      return now < time.adding(.seconds(35))
    }
  }

  /// The display name of a person of the session; nil when it does not tell.
  package func name(of userId: String?) -> String? {
    guard let userId else { return nil }
    return participants.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? activeCaptures.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? asrSessions.first { $0.userId == userId && $0.displayName != nil }?.displayName
      ?? membershipEvents.last { $0.userId == userId && $0.displayName != nil }?.displayName
  }

  /// The first that holds: the bot's turn is open, turns wait for recognition or
  /// an answer, someone speaks, the provider's link is down, nothing.
  package var activity: VoiceActivity {
    if botTurnOpen { return .speaking }
    let realtime = realtime
    if (batchAsr?.pendingTurns ?? 0) + (realtime?.pendingTurns ?? 0) > 0 { return .processing }
    if activeInputStreams > 0 { return .listening }
    return realtime?.state?.connected == false ? .disconnected : .idle
  }
}

/// What a session is doing, in the one word that the web dashboard shows.
package enum VoiceActivity: String, CaseIterable, Sendable {
  case speaking, processing, listening, disconnected, idle

  /// The word with a capital: `Speaking`.
  package var word: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

/// Someone in the voice channel.
package struct VoiceParticipant: VoicePart {
  let json: JSONValue?
  package var userId: String?, displayName: String?

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
  }

  package init(userId: String?, displayName: String?) {
    (json, self.userId, self.displayName) = (nil, userId, displayName)
  }
}

/// Someone who speaks now.
package struct VoiceCapture: VoicePart {
  let json: JSONValue?
  package var userId: String?, displayName: String?
  package var startedAt: Timestamp?
  package var ageMs: Double? { value() }
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard: Bool { json == nil }

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
    startedAt = value("startedAt")
  }

  /// Someone of whom an event tells.
  package init(heard userId: String, _ displayName: String?, at time: Timestamp) {
    (json, self.userId, self.displayName, startedAt) = (nil, userId, displayName, time)
  }
}

/// The speaker that the bot attends to.
package struct VoiceFocus: VoicePart {
  let json: JSONValue?
  package var userId: String? { value() }
  package var displayName: String? { value() }
  package var since: Timestamp? { value() }
}

/// Someone came or went: of a state, or of the event itself, which names its member otherwise.
package struct VoiceMembershipEvent: VoicePart {
  let json: JSONValue?
  package var userId: String? { value("memberUserId") ?? value() }
  package var displayName: String? { value() }
  /// `join` or `leave`.
  package var eventType: String?
  package var at: Timestamp?
  package var ageMs: Double? { value() }

  init(json: JSONValue?) {
    self.json = json
    eventType = value("eventType")
    at = value("at")
  }
}

/// One thing that was said, thought, or happened in the channel.
package struct VoiceTurn: VoicePart {
  let json: JSONValue?
  /// `speech`, `thought`, `membership`, `effect`; nil where it is not told.
  package var kind: String?
  /// `user` or `assistant`.
  package var role: String?
  /// `YOU` for a thought of the bot.
  package var speakerName: String?
  package var text: String
  package var at: Timestamp?

  init(json: JSONValue?) {
    self.json = json
    text = ""
    text = value("text") ?? ""
    kind = value("kind")
    role = value("role")
    speakerName = value("speakerName")
    at = value("at")
  }

  /// What somebody said.
  package init(_ text: String, by speakerName: String?, role: String, at: Timestamp?) {
    (json, self.text, self.speakerName, self.role, self.at) = (nil, text, speakerName, role, at)
    kind = "speech"
  }
}

/// What the bot's own voice does.
package struct VoiceOutput: VoicePart {
  let json: JSONValue?
  /// `idle`, `response_pending`, `awaiting_tool_outputs`, `speaking_live`,
  /// `speaking_buffered`.
  package var phase: String? { value() }
  package var phaseEnteredAt: Timestamp? { value() }
}

/// A voice session that has ended.
package struct PastSession: Sendable {
  /// As it came, on one line.
  package let bytes: [UInt8]
  package let id: String?, guild: String?, mode: String?, reason: String?
  package let startedAt: Timestamp?, endedAt: Timestamp?
  package let seconds: Double?
}

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

/// The provider that the session speaks through.
package struct VoiceRealtime: VoicePart {
  let json: JSONValue?
  package var provider: String? { value() }
  package var inputSampleRateHz: Int? { value() }
  package var outputSampleRateHz: Int? { value() }
  package var recentVoiceTurns: Int? { value() }
  /// Replies that were overtaken by newer words.
  package var replySuperseded: Int? { value() }
  package var pendingTurns: Int { value() ?? 0 }
  package var drainActive: Bool? { value() }
  package var coalesceActive: Bool? { value() }
  package var state: VoiceRealtimeState? { value() }
}

/// The link to the provider.
package struct VoiceRealtimeState: VoicePart {
  /// Something that was sent to the provider.
  package struct Event: VoicePart {
    let json: JSONValue?
    package var type: String? { value() }
    package var at: Timestamp? { value() }
  }

  let json: JSONValue?
  package var connected: Bool? { value() }
  package var connectedAt: Timestamp? { value() }
  package var lastEventAt: Timestamp? { value() }
  package var sessionId: String? { value() }
  package var lastError: String? { value() }
  package var lastCloseCode: Int? { value() }
  package var lastCloseReason: String? { value() }
  package var lastEventType: String? { value() }
  package var lastOutboundEventType: String? { value() ?? lastOutboundEvent?.type }
  package var lastOutboundEventAt: Timestamp? { value() ?? lastOutboundEvent?.at }
  private var lastOutboundEvent: Event? { value() }
  package var activeResponseId: String? { value() }
  package var activeResponseStatus: String? { value() }
  /// Oldest first.
  package var recentOutboundEvents: [Event] { value() }
  /// Of some providers only.
  package var model: String? { value() }
  package var utteranceCount: Int? { value() }
  package var setupComplete: Bool? { value() }
  package var pendingResponseActive: Bool? { value() }
}

/// One recogniser of speech: of a person, or of everybody.
package struct VoiceASRSession: VoicePart {
  /// What is being said and is not yet a turn.
  package struct Utterance: VoicePart {
    let json: JSONValue?
    package var partialText: String?
    /// How many segments are final: their number is sent, or they themselves.
    package var finalSegments: Int? { value() ?? json?["finalSegments"]?.count }
    package var bytesSent: Int? { value() }

    /// As a state tells of it; nil for nothing yet.
    package init(json: JSONValue? = nil) {
      self.json = json
      partialText = value("partialText")
    }
  }

  let json: JSONValue?
  package var userId: String?, displayName: String?
  package var connected: Bool?
  /// `idle`, `connecting`, `ready`, `committing`, `closing`; also when only the
  /// older `closing` says so.
  package var phase: String?
  package var lastAudioAt: Timestamp?
  package var lastTranscriptAt: Timestamp? { value() }
  package var idleMs: Double? { value() }
  package var idleTtlMs: Double? { value() }
  package var pendingAudioBytes: Int? { value() }
  package var pendingAudioChunks: Int? { value() }
  package var utterance: Utterance?
  package var model: String? { value() }
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard: Bool { json == nil }

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
    connected = value("connected")
    phase = value("phase") ?? (value("closing") == true ? "closing" : nil)
    lastAudioAt = value("lastAudioAt")
    utterance = value("utterance")
  }

  /// The recogniser of someone of whose words an event tells.
  package init(heard userId: String, _ displayName: String, at time: Timestamp?) {
    (json, self.userId, self.displayName, lastAudioAt) = (nil, userId, displayName, time)
    (connected, phase) = (true, "ready")
  }
}

/// Turns that wait to be recognised as files.
package struct VoiceBatchASR: VoicePart {
  let json: JSONValue?
  package var pendingTurns: Int { value() ?? 0 }
  package var contextMessages: Int? { value() }
}

/// How long answers took, stage by stage.
package struct VoiceLatency: VoicePart {
  /// The stages of an answer and their sum. Milliseconds; nil where the server
  /// could not tell.
  package struct Stages: Sendable {
    private static let members = [
      "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
      "replyRequestToAudioStartMs", "totalMs",
    ]

    /// From the last word to its recognition, to the thinking, to the question to the
    /// provider, to the sound; and the total, in this order.
    package var all = [Double?](repeating: nil, count: 5)

    /// Nothing known.
    package init() {}

    init(_ json: JSONValue) {
      all = Self.members.map { name in
        // No answer takes less than no time, or years.
        guard let time = json.double(name), time >= 0, time < 1e11 else { return nil }
        return time
      }
    }

    /// The averages of answers, in whole milliseconds.
    package init(averageOf turns: [Turn]) {
      for stage in all.indices {
        let known = turns.compactMap { $0.stages.all[stage] }
        all[stage] = known.isEmpty ? nil : (known.reduce(0, +) / Double(known.count)).rounded()
      }
    }

    /// The sum of the stages.
    package var totalMs: Double? { all[4] }

    /// Whether no stage is known.
    package var isUnknown: Bool { all.allSatisfy { $0 == nil } }

    /// Adds the stages that are known of the same answer by now; the total is their sum.
    package mutating func add(_ other: Stages) {
      for stage in 0..<4 { all[stage] = other.all[stage] ?? all[stage] }
      let known = all[..<4].compactMap { $0 }
      all[4] = known.isEmpty ? nil : known.reduce(0, +)
    }
  }

  /// One answer.
  package struct Turn: VoicePart {
    let json: JSONValue?
    package var at: Timestamp?
    package var stages: Stages

    /// As a state tells of it; nil for nothing known.
    package init(json: JSONValue? = nil) {
      self.json = json
      stages = json.map { Stages($0) } ?? Stages()
      at = value("at")
    }
  }

  let json: JSONValue?
  /// Newest first.
  package var recentTurns: [Turn] = []
  package var averages: Stages

  /// As a state tells of it; nil for no answer yet.
  package init(json: JSONValue? = nil) {
    self.json = json
    averages = json?["averages"].map { Stages($0) } ?? Stages()
    recentTurns = value("recentTurns")
  }

  /// The median of each stage over the recent turns, in the order of
  /// `Stages.all`; nil where no turn has the stage.
  package var medians: [Double?] {
    let turns = recentTurns.map(\.stages.all)
    return averages.all.indices.map { stage in
      let known = turns.compactMap { $0[stage] }.sorted()
      guard !known.isEmpty else { return nil }
      let middle = known.count / 2
      return known.count % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
    }
  }
}

/// A tool that a model may call.
package struct VoiceTool: VoicePart {
  let json: JSONValue?
  package var name: String? { value() }
  package var serverName: String? { value() }
  package var description: String? { value() }
}

/// One call of a tool: of a state, or of the event of a call. Calls that a model makes by
/// itself have other names for three members.
package struct VoiceToolCall: VoicePart {
  /// How a call stands.
  package enum State: String, Sendable {
    case running, ok, failed
  }

  let json: JSONValue?
  package var callId: String?, toolName: String?
  /// `function` or `mcp`.
  package var toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  package var serverName: String?
  /// An object as a rule.
  package var arguments: JSONValue?
  package var startedAt: Timestamp?, completedAt: Timestamp?
  package var runtimeMs: Double? { value() ?? value("durationMs") }
  package var success: Bool?
  /// A text or an object.
  package var outputSummary: JSONValue? { json?[either: "outputSummary", "toolResultSummary"] }
  package var error: String?
  /// Whether only events told of it: states do not hold calls that run.
  package var isHeard = false

  init(json: JSONValue?) {
    self.json = json
    callId = value("callId")
    toolName = value("toolName")
    toolType = value("toolType")
    serverName = value("serverName")
    arguments = json?[either: "arguments", "toolInput"]
    startedAt = value("startedAt")
    completedAt = value("completedAt")
    success = value("success")
    error = value("error") ?? json?["error"]?.text("message", "code")
  }

  /// Failed with an error; else running until it is completed; else what it says.
  package var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

/// A server of the model context protocol.
package struct VoiceMCPServer: VoicePart {
  let json: JSONValue?
  package var serverName: String? { value() }
  package var connected: Bool? { value() }
  package var tools: [VoiceTool] { value() }
  package var lastError: String? { value() }
  package var lastConnectedAt: Timestamp? { value() }
  package var lastCallAt: Timestamp? { value() }
}

/// What the bot sees of a shared screen. Notes were called brain context before.
package struct VoiceStreamWatch: VoicePart {
  /// Something seen.
  package struct Seen: VoicePart {
    let json: JSONValue?
    package var text: String?
    package var at: Timestamp?
    package var speakerName: String? { value() }

    init(json: JSONValue?) {
      self.json = json
      text = value("text")
      at = value("at")
    }

    /// As an event tells it.
    init(_ text: String, at time: Timestamp?) { (json, self.text, at) = (nil, text, time) }
  }

  let json: JSONValue?
  package var active = false
  package var targetUserId: String? { value() }
  package var requestedByUserId: String? { value() }
  package var lastFrameAt: Timestamp? { value() }
  package var lastCommentaryAt: Timestamp? { value() }
  package var lastCommentaryNote: String? { value() }
  package var lastMemoryRecapAt: Timestamp? { value() }
  package var lastMemoryRecapText: String? { value() }
  package var lastMemoryRecapDurableSaved: Bool? { value() }
  package var latestFrameAt: Timestamp? { value() }
  package var latestFrameMimeType: String? { value() }
  package var latestFrameApproxBytes: Int? { value() }
  package var acceptedFrameCountInWindow: Int? { value() }
  package var frameWindowStartedAt: Timestamp? { value() }
  package var ingestedFrameCount: Int?
  package var lastNoteAt: Timestamp?
  package var lastNoteProvider: String? { value() ?? value("lastBrainContextProvider") }
  package var lastNoteModel: String? { value() ?? value("lastBrainContextModel") }
  package var noteCount: Int?
  /// What was seen, oldest first.
  package var visualFeed: [Seen] = []
  package var notePayload: VoiceNotePayload? { value() ?? value("brainContextPayload") }
  package var nativeDiscord: VoiceNativeStream? { value() }

  init(json: JSONValue?) {
    self.json = json
    active = value("active") ?? false
    ingestedFrameCount = value("ingestedFrameCount")
    lastNoteAt = value("lastNoteAt") ?? value("lastBrainContextAt")
    noteCount = value("noteCount") ?? value("brainContextCount")
    visualFeed = value("visualFeed")
  }

  /// Nothing seen yet of a screen that is watched or not.
  package init(active: Bool) { (json, self.active) = (nil, active) }
}

/// What the answering model is told of the screen.
package struct VoiceNotePayload: VoicePart {
  let json: JSONValue?
  /// Each ends in its age: `(12s ago)`.
  package var notes: [String] { value() }
  package var lastAt: Timestamp? { value() }
  package var provider: String? { value() }
  package var model: String? { value() }
}

/// Screens shared over Discord itself.
package struct VoiceNativeStream: VoicePart {
  /// Someone who shares a screen.
  package struct Sharer: VoicePart {
    let json: JSONValue?
    package var userId: String? { value() }
    package var displayName: String? { value() }
    package var codec: String? { value() }
  }

  let json: JSONValue?
  package var decodeInFlight: Bool? { value() }
  package var ffmpegAvailable: Bool? { value() }
  package var lastDecodeSuccessAt: Timestamp? { value() }
  package var lastDecodeFailureAt: Timestamp? { value() }
  package var lastDecodeFailureReason: String? { value() }
  package var activeSharers: [Sharer] { value() }
}

/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
package struct VoiceMusic: VoicePart {
  /// A track: one that a search found, or of the queue, which has no platform and length.
  package struct Track: VoicePart {
    let json: JSONValue?
    package var id: String? { value() }
    package var title: String? { value() }
    package var artist: String? { value() }
    package var platform: String? { value() }
    package var durationSeconds: Double? { value() }
  }

  /// The tracks that wait.
  package struct Queue: VoicePart {
    let json: JSONValue?
    package var tracks: [Track] { value() }
    package var nowPlayingIndex: Int? { value() }
    /// 0 to 1.
    package var volume: Double? { value() }
  }

  let json: JSONValue?
  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  package var phase: String?
  package var active = false
  package var pauseReason: String? { value() }
  package var replyHandoffMode: String? { value() }
  package var provider: String? { value() }
  package var source: String? { value() }
  package var startedAt: Timestamp? { value() }
  package var stoppedAt: Timestamp? { value() }
  package var lastTrackTitle: String?
  package var lastTrackArtists: [String] { value() }
  package var lastQuery: String?
  package var lastRequestedByUserId: String? { value() }
  package var lastRequestText: String? { value() }
  package var lastCommandReason: String? { value() }
  package var pendingQuery: String? { value() }
  package var pendingPlatform: String? { value() }
  package var pendingRequestedByUserId: String? { value() }
  package var pendingRequestedAt: Timestamp? { value() }
  package var pendingResults: [Track] { value() }
  package var disambiguationActive: Bool { value() ?? false }
  package var queueState: Queue? { value() }

  /// As a state tells of it; nil for nothing that plays.
  package init(json: JSONValue? = nil) {
    self.json = json
    phase = value("phase")
    active = value("active") ?? false
    lastTrackTitle = value("lastTrackTitle")
    lastQuery = value("lastQuery")
  }
}

/// What was played of the soundboard.
package struct VoiceSoundboard: VoicePart {
  let json: JSONValue?
  package var playCount = 0
  package var lastPlayedAt: Timestamp?

  /// As a state tells of it; nil for nothing yet.
  package init(json: JSONValue? = nil) {
    self.json = json
    playCount = value("playCount") ?? 0
    lastPlayedAt = value("lastPlayedAt")
  }
}

/// A part of a voice state: a member of it, or an element of one.
///
/// What no event changes is not kept but read where it is asked for: the accessor's own name
/// is the member's. Reading never fails: a member that is missing, null, blank or of another
/// type is nil or empty.
protocol VoicePart: Sendable {
  /// What the state said; nil for what only events told of.
  var json: JSONValue? { get }

  init(json: JSONValue?)
}

extension VoicePart {
  init(_ json: JSONValue) { self.init(json: json) }

  func value(_ name: String = #function) -> String? { json?.text(name) }
  func value(_ name: String = #function) -> Double? { json?.double(name) }
  func value(_ name: String = #function) -> Int? { json?.int(name) }
  func value(_ name: String = #function) -> Bool? { json?.bool(name) }
  func value(_ name: String = #function) -> Timestamp? { json?.time(name) }
  func value(_ name: String = #function) -> [String] { json?.texts(name) ?? [] }
  func value<Part: VoicePart>(_ name: String = #function) -> [Part] {
    json?.list(Part.init(json:), name) ?? []
  }
  func value<Part: VoicePart>(_ name: String = #function) -> Part? {
    guard let member = json?[name], member.isObject else { return nil }
    return Part(json: member)
  }
}

extension JSONValue {
  /// The most bytes of a text that is kept; far more than a screen shows.
  static let mostVoiceText = 16 * 1024
  /// The most elements of a list that are kept; servers send at most 220.
  static let mostVoiceElements = 1000

  /// A text, number or truth value as text; nil when it is empty. Only the beginning of a
  /// very long one.
  func text(_ name: String) -> String? { self[name]?.keptText }

  func text(_ name: String, _ other: String) -> String? { text(name) ?? text(other) }

  private var keptText: String? {
    let text = string(bytes: Self.mostVoiceText) ?? self.text
    return text?.isEmpty == true ? nil : text
  }

  /// A finite number, or a text that is one.
  func double(_ name: String) -> Double? {
    guard let number = self[name]?.number, number.isFinite else { return nil }
    return number
  }

  /// A whole number; a fraction is cut off, more than 2^53 counts as none.
  func int(_ name: String) -> Int? {
    guard let number = self[name]?.number, abs(number) <= 9_007_199_254_740_992 else { return nil }
    return Int(number)
  }

  func bool(_ name: String) -> Bool? { self[name]?.bool }

  /// An instant: RFC 3339, or milliseconds since 1970 as a number.
  func time(_ name: String) -> Timestamp? {
    guard let member = self[name] else { return nil }
    if let time = member.withBytes({ $0.count <= 64 ? Timestamp(rfc3339: $0) : nil }) {
      return time
    }
    guard let number = member.number, abs(number) <= 8.64e15 else { return nil }
    let milliseconds = Int64(number.rounded(.down))
    let rest = (milliseconds % 1000 + 1000) % 1000
    return Timestamp(seconds: (milliseconds - rest) / 1000, nanoseconds: Int32(rest) * 1_000_000)
  }

  /// The last elements of a list that are objects, each made into something.
  func list<Part>(_ make: (JSONValue) -> Part, _ name: String) -> [Part] {
    lastElements(name) { $0.isObject ? make($0) : nil }
  }

  func objects(_ name: String) -> Int { list({ _ in () }, name).count }

  /// The last elements of a list that are texts; of an object, its name.
  func texts(_ name: String) -> [String] {
    lastElements(name) { $0.keptText ?? $0.text("displayName", "name") }
  }

  private func lastElements<Part>(_ name: String, _ make: (JSONValue) -> Part?) -> [Part] {
    guard let member = self[name] else { return [] }
    let count = member.kind == .array ? member.count : 0
    return (max(0, count - Self.mostVoiceElements)..<count).compactMap { index in
      member.element(index).flatMap(make)
    }
  }
}
