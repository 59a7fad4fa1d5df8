import Core

/// Whom the bot listens to, and what it knows of the talk.
struct VoiceConversation: Sendable {
  var lastAssistantReplyAt: Timestamp?
  var lastDirectAddressAt: Timestamp?
  var lastDirectAddressUserId: String?
  var musicWakeLatchedUntil: Timestamp?
  var musicWakeLatchedByUserId: String?
  var wake: VoiceWake?
  var thoughtEngine: VoiceThoughtEngine?
  /// Who talks to whom, oldest first.
  var addressingGuesses: [VoiceAddressingGuess] = []
  var modelContext: VoiceModelContext?
}

extension VoiceConversation {
  init(_ value: JSONValue) {
    lastAssistantReplyAt = value.time("lastAssistantReplyAt")
    lastDirectAddressAt = value.time("lastDirectAddressAt")
    lastDirectAddressUserId = value.text("lastDirectAddressUserId")
    musicWakeLatchedUntil = value.time("musicWakeLatchedUntil")
    musicWakeLatchedByUserId = value.text("musicWakeLatchedByUserId")
    wake = value.part(VoiceWake.init, "wake")
    thoughtEngine = value.part(VoiceThoughtEngine.init, "thoughtEngine")
    addressingGuesses =
      value["addressing"]?.list(VoiceAddressingGuess.init, "recentAddressingGuesses") ?? []
    modelContext = value.part(VoiceModelContext.init, "modelContext")
  }
}

/// Whether the bot takes what is said as meant for it, and why.
struct VoiceWake: Sendable {
  /// `ACTIVE` or `AMBIENT`.
  var attentionMode: String?
  var active: Bool?
  var msSinceAssistantReply: Double?, msSinceDirectAddress: Double?
  /// How long a reply or an address keeps the bot awake.
  var windowMs: Double?
}

extension VoiceWake {
  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    active = value.bool("active")
    msSinceAssistantReply = value.double("msSinceAssistantReply")
    msSinceDirectAddress = value.double("msSinceDirectAddress")
    windowMs = value.double("windowMs")
  }
}

/// A guess at who talks to whom.
struct VoiceAddressingGuess: Sendable {
  let speakerName: String?, talkingTo: String?
  /// 0 to 1.
  let directedConfidence: Double?

  init(_ value: JSONValue) {
    speakerName = value.text("speakerName")
    talkingTo = value.text("talkingTo")
    directedConfidence = value.double("directedConfidence")
  }
}

/// What the bot thinks of saying without being asked.
struct VoiceThoughtEngine: Sendable {
  let busy: Bool?
  let nextAttemptAt: Timestamp?, lastAttemptAt: Timestamp?, lastSpokenAt: Timestamp?
  let pendingThought: VoiceThought?

  init(_ value: JSONValue) {
    busy = value.bool("busy")
    nextAttemptAt = value.time("nextAttemptAt")
    lastAttemptAt = value.time("lastAttemptAt")
    lastSpokenAt = value.time("lastSpokenAt")
    pendingThought = value.part(VoiceThought.init, "pendingThought")
  }
}

/// A thought that waits for its moment.
struct VoiceThought: Sendable {
  /// `queued` or `reconsider`.
  let status: String?
  let text: String?, draftText: String?
  let lastDecisionReason: String?
  /// `hold`, `speak_now` or `drop`.
  let lastDecisionAction: String?
  let invalidationReason: String?

  init(_ value: JSONValue) {
    status = value.text("status")
    text = value.text("text")
    draftText = value.text("draftText")
    lastDecisionReason = value.text("lastDecisionReason")
    lastDecisionAction = value.text("lastDecisionAction")
    invalidationReason = value.text("invalidationReason")
  }
}

/// How much of the talk the models were given.
struct VoiceModelContext: Sendable {
  /// One model's share.
  struct Share: Sendable {
    /// Turns that there were, that were sent, that may be sent.
    let availableTurns: Int?, sentTurns: Int?, maxTurns: Int?
    let contextChars: Int?, transcriptChars: Int?
    /// Of the decider only.
    let promptHistoryChars: Int?

    init(_ value: JSONValue) {
      availableTurns = value.int("availableTurns")
      sentTurns = value.int("sentTurns")
      maxTurns = value.int("maxTurns")
      contextChars = value.int("contextChars")
      transcriptChars = value.int("transcriptChars")
      promptHistoryChars = value.int("promptHistoryChars")
    }
  }

  let generation: Share?, decider: Share?
  let trackedTurns: Int?, trackedTurnLimit: Int?, trackedTranscriptTurns: Int?

  init(_ value: JSONValue) {
    generation = value.part(Share.init, "generation")
    decider = value.part(Share.init, "decider")
    trackedTurns = value.int("trackedTurns")
    trackedTurnLimit = value.int("trackedTurnLimit")
    trackedTranscriptTurns = value.int("trackedTranscriptTurns")
  }
}

/// Someone in the voice channel.
struct VoiceParticipant: Sendable {
  var userId: String?, displayName: String?
}

extension VoiceParticipant {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
  }
}

/// Someone who speaks now.
struct VoiceCapture: Sendable {
  var userId: String?, displayName: String?
  var startedAt: Timestamp?
  var ageMs: Double?
  /// Whether only an event told of it: then an event ends it, too.
  var isHeard = false
}

extension VoiceCapture {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    startedAt = value.time("startedAt")
    ageMs = value.double("ageMs")
  }
}

/// The speaker that the bot attends to.
struct VoiceFocus: Sendable {
  let userId: String?, displayName: String?
  let since: Timestamp?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    since = value.time("since")
  }
}

/// Someone came or went.
struct VoiceMembershipEvent: Sendable {
  var userId: String?, displayName: String?
  /// `join` or `leave`.
  var eventType: String?
  var at: Timestamp?
  var ageMs: Double?
}

extension VoiceMembershipEvent {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    eventType = value.text("eventType")
    at = value.time("at")
    ageMs = value.double("ageMs")
  }
}

/// One thing that was said, thought, or happened in the channel.
struct VoiceTurn: Sendable {
  /// `speech`, `thought`, `membership`, `effect`; nil in the older wire.
  var kind: String?
  /// `user` or `assistant`.
  var role: String?
  /// `YOU` for a thought of the bot.
  var speakerName: String?
  var text: String
  var at: Timestamp?
}

extension VoiceTurn {
  init(_ value: JSONValue) {
    kind = value.text("kind")
    role = value.text("role")
    speakerName = value.text("speakerName")
    text = value.text("text") ?? ""
    at = value.time("at")
  }
}
