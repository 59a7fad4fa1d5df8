/// The facts that the session has loaded.
public struct VoiceMemory: Sendable {
  /// What is known of one person.
  public struct Profile: Sendable {
    public let userId: String?, displayName: String?
    public let loadedAt: Timestamp?
    public let userFacts: [VoiceFact]

    init(_ value: JSONValue) {
      userId = value.text("userId")
      displayName = value.text("displayName")
      loadedAt = value.time("loadedAt")
      userFacts = value.list(VoiceFact.init, "userFacts")
    }
  }

  /// What is known of the guild and of the bot itself.
  public struct GuildProfile: Sendable {
    public let loadedAt: Timestamp?
    public let selfFacts: [VoiceFact], loreFacts: [VoiceFact]

    init(_ value: JSONValue) {
      loadedAt = value.time("loadedAt")
      selfFacts = value.list(VoiceFact.init, "selfFacts")
      loreFacts = value.list(VoiceFact.init, "loreFacts")
    }
  }

  public let factProfiles: [Profile]
  public let guildFactProfile: GuildProfile?

  init(_ value: JSONValue) {
    factProfiles = value.list(Profile.init, "factProfiles")
    guildFactProfile = value.part(GuildProfile.init, "guildFactProfile")
  }
}

/// One remembered fact, in either spelling.
public struct VoiceFact: Sendable {
  public let id: String?, subject: String?, fact: String?, factType: String?
  /// 0 to 1.
  public let confidence: Double?
  public let createdAt: Timestamp?, updatedAt: Timestamp?

  init(_ value: JSONValue) {
    id = value.text("id")
    subject = value.text("subject")
    fact = value.text("fact")
    factType = value.text("factType", "fact_type")
    confidence = value.double("confidence")
    createdAt = value.time("createdAt", "created_at")
    updatedAt = value.time("updatedAt", "updated_at")
  }
}

/// The facts that a model was given, by what they are for.
public struct VoiceFacts: Sendable {
  public let userFacts: [VoiceFact], relevantFacts: [VoiceFact]
  public let guidanceFacts: [VoiceFact], behavioralFacts: [VoiceFact]

  init(_ value: JSONValue) {
    userFacts = value.list(VoiceFact.init, "userFacts")
    relevantFacts = value.list(VoiceFact.init, "relevantFacts")
    guidanceFacts = value.list(VoiceFact.init, "guidanceFacts")
    behavioralFacts = value.list(VoiceFact.init, "behavioralFacts")
  }

  /// How many there are.
  public var count: Int {
    userFacts.count + relevantFacts.count + guidanceFacts.count + behavioralFacts.count
  }
}

/// Something that the session keeps in mind.
public struct VoiceNote: Sendable {
  public let text: String?
  /// `fact`, `plan`, `preference` or `relationship`.
  public let category: String?
  public let at: Timestamp?

  init(_ value: JSONValue) {
    text = value.text("text")
    category = value.text("category")
    at = value.time("at")
  }
}
