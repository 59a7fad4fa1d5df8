import Core

/// Whom the bot listens to, and what it knows of the talk.
struct VoiceConversation: Sendable {
  let lastAssistantReplyAt: Timestamp?
  let lastDirectAddressAt: Timestamp?
  let lastDirectAddressUserId: String?
  let musicWakeLatchedUntil: Timestamp?
  let musicWakeLatchedByUserId: String?
  let wake: VoiceWake?
  let thoughtEngine: VoiceThoughtEngine?
  let addressing: VoiceAddressing?
  let modelContext: VoiceModelContext?

  init(_ value: JSONValue) {
    lastAssistantReplyAt = value.time("lastAssistantReplyAt")
    lastDirectAddressAt = value.time("lastDirectAddressAt")
    lastDirectAddressUserId = value.text("lastDirectAddressUserId")
    musicWakeLatchedUntil = value.time("musicWakeLatchedUntil")
    musicWakeLatchedByUserId = value.text("musicWakeLatchedByUserId")
    wake = value.part(VoiceWake.init, "wake")
    thoughtEngine = value.part(VoiceThoughtEngine.init, "thoughtEngine")
    addressing = value.part(VoiceAddressing.init, "addressing")
    modelContext = value.part(VoiceModelContext.init, "modelContext")
  }
}

/// Whether the bot takes what is said as meant for it, and why.
struct VoiceWake: Sendable {
  /// `ACTIVE` or `AMBIENT`.
  let attentionMode: String?
  let active: Bool?
  let currentSpeakerActive: Bool?, recentAssistantReply: Bool?, recentDirectAddress: Bool?
  let msSinceAssistantReply: Double?, msSinceDirectAddress: Double?
  /// How long a reply or an address keeps the bot awake.
  let windowMs: Double?

  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    active = value.bool("active")
    currentSpeakerActive = value.bool("currentSpeakerActive")
    recentAssistantReply = value.bool("recentAssistantReply")
    recentDirectAddress = value.bool("recentDirectAddress")
    msSinceAssistantReply = value.double("msSinceAssistantReply")
    msSinceDirectAddress = value.double("msSinceDirectAddress")
    windowMs = value.double("windowMs")
  }
}

/// Guesses at who talks to whom.
struct VoiceAddressing: Sendable {
  /// One guess.
  struct Guess: Sendable {
    let speakerName: String?, talkingTo: String?
    /// 0 to 1.
    let directedConfidence: Double?
    let ageMs: Double?

    init(_ value: JSONValue) {
      speakerName = value.text("speakerName")
      talkingTo = value.text("talkingTo")
      directedConfidence = value.double("directedConfidence")
      ageMs = value.double("ageMs")
    }
  }

  let currentSpeakerTarget: String?
  let currentSpeakerDirectedConfidence: Double?
  let lastDirectedToMe: Guess?
  let recentAddressingGuesses: [Guess]

  init(_ value: JSONValue) {
    currentSpeakerTarget = value.text("currentSpeakerTarget")
    currentSpeakerDirectedConfidence = value.double("currentSpeakerDirectedConfidence")
    lastDirectedToMe = value.part(Guess.init, "lastDirectedToMe")
    recentAddressingGuesses = value.list(Guess.init, "recentAddressingGuesses")
  }
}
