/// Whom the bot listens to, and what it knows of the talk.
public struct VoiceConversation: Sendable {
  public let lastAssistantReplyAt: Timestamp?
  public let lastDirectAddressAt: Timestamp?
  public let lastDirectAddressUserId: String?
  public let musicWakeLatchedUntil: Timestamp?
  public let musicWakeLatchedByUserId: String?
  public let wake: VoiceWake?
  public let thoughtEngine: VoiceThoughtEngine?
  public let addressing: VoiceAddressing?
  public let modelContext: VoiceModelContext?

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
public struct VoiceWake: Sendable {
  /// `ACTIVE` or `AMBIENT`.
  public let attentionMode: String?
  public let active: Bool?
  public let currentSpeakerActive: Bool?, recentAssistantReply: Bool?, recentDirectAddress: Bool?
  public let msSinceAssistantReply: Double?, msSinceDirectAddress: Double?
  /// How long a reply or an address keeps the bot awake.
  public let windowMs: Double?

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
public struct VoiceAddressing: Sendable {
  /// One guess.
  public struct Guess: Sendable {
    public let speakerName: String?, talkingTo: String?
    /// 0 to 1.
    public let directedConfidence: Double?
    public let ageMs: Double?

    init(_ value: JSONValue) {
      speakerName = value.text("speakerName")
      talkingTo = value.text("talkingTo")
      directedConfidence = value.double("directedConfidence")
      ageMs = value.double("ageMs")
    }
  }

  public let currentSpeakerTarget: String?
  public let currentSpeakerDirectedConfidence: Double?
  public let lastDirectedToMe: Guess?
  public let recentAddressingGuesses: [Guess]

  init(_ value: JSONValue) {
    currentSpeakerTarget = value.text("currentSpeakerTarget")
    currentSpeakerDirectedConfidence = value.double("currentSpeakerDirectedConfidence")
    lastDirectedToMe = value.part(Guess.init, "lastDirectedToMe")
    recentAddressingGuesses = value.list(Guess.init, "recentAddressingGuesses")
  }
}
