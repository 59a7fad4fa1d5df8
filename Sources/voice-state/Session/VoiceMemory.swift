import Core

/// The facts that the session has loaded.
struct VoiceMemory: Sendable {
  /// What is known of one person.
  struct Profile: Sendable {
    let userId: String?, displayName: String?
    let loadedAt: Timestamp?
    let userFacts: [VoiceFact]

    init(_ value: JSONValue) {
      userId = value.text("userId")
      displayName = value.text("displayName")
      loadedAt = value.time("loadedAt")
      userFacts = value.list(VoiceFact.init, "userFacts")
    }
  }

  /// What is known of the guild and of the bot itself.
  struct GuildProfile: Sendable {
    let loadedAt: Timestamp?
    let selfFacts: [VoiceFact], loreFacts: [VoiceFact]

    init(_ value: JSONValue) {
      loadedAt = value.time("loadedAt")
      selfFacts = value.list(VoiceFact.init, "selfFacts")
      loreFacts = value.list(VoiceFact.init, "loreFacts")
    }
  }

  let factProfiles: [Profile]
  let guildFactProfile: GuildProfile?

  init(_ value: JSONValue) {
    factProfiles = value.list(Profile.init, "factProfiles")
    guildFactProfile = value.part(GuildProfile.init, "guildFactProfile")
  }
}

/// One remembered fact, in either spelling.
struct VoiceFact: Sendable {
  let id: String?, subject: String?, fact: String?, factType: String?
  /// 0 to 1.
  let confidence: Double?
  let createdAt: Timestamp?, updatedAt: Timestamp?

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
struct VoiceFacts: Sendable {
  let userFacts: [VoiceFact], relevantFacts: [VoiceFact]
  let guidanceFacts: [VoiceFact], behavioralFacts: [VoiceFact]

  init(_ value: JSONValue) {
    userFacts = value.list(VoiceFact.init, "userFacts")
    relevantFacts = value.list(VoiceFact.init, "relevantFacts")
    guidanceFacts = value.list(VoiceFact.init, "guidanceFacts")
    behavioralFacts = value.list(VoiceFact.init, "behavioralFacts")
  }

  /// How many there are.
  var count: Int {
    userFacts.count + relevantFacts.count + guidanceFacts.count + behavioralFacts.count
  }
}

/// Something that the session keeps in mind.
struct VoiceNote: Sendable {
  let text: String?
  /// `fact`, `plan`, `preference` or `relationship`.
  let category: String?
  let at: Timestamp?

  init(_ value: JSONValue) {
    text = value.text("text")
    category = value.text("category")
    at = value.time("at")
  }
}
