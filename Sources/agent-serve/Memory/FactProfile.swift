import Core
import GRDB

/// The facts that a prompt would be given (Agent/Clanky/CONTRACT.md 5.3), by whom they are about.
struct FactProfile: Sendable {
  /// Those of one part are not more than this.
  static let limit = 40

  /// Facts about a user, wherever they were learnt.
  static func user(_ id: String, _ db: Database) throws -> [StoredFact] {
    try facts("f.scope = 'user' AND f.user_id = ?1", [id], db)
  }

  /// What every guild's facts tell of the bot, of its guilds, and of how to behave.
  struct Shared: Sendable {
    /// About the bot.
    var selves: [StoredFact]
    /// About the community.
    var lore: [StoredFact]
    /// How to behave: facts of type guidance.
    var guidance: [StoredFact]
    /// What was noticed of behaviour: facts of type behavioral.
    var behavioral: [StoredFact]
  }

  /// - Parameter isPortable: takes what is remembered of the bot itself outside of
  ///   guilds along, as snapshots do and profiles do not.
  static func shared(isPortable: Bool, _ db: Database) throws -> Shared {
    let plain = "f.fact_type NOT IN ('guidance', 'behavioral')"
    let scope = isPortable ? "f.scope IN ('guild', 'user')" : "f.scope = 'guild'"
    func about(_ subject: String) throws -> [StoredFact] {
      try facts("\(scope) AND f.subject = '\(subject)' AND \(plain)", [], db)
    }
    func typed(_ type: String) throws -> [StoredFact] {
      try facts(
        "\(scope) AND f.subject IN ('__lore__', '__self__') AND f.fact_type = '\(type)'", [], db)
    }
    return Shared(
      selves: try about("__self__"), lore: try about("__lore__"),
      guidance: try typed("guidance"), behavioral: try typed("behavioral"))
  }

  private static func facts(
    _ condition: String, _ arguments: StatementArguments, _ db: Database
  ) throws -> [StoredFact] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND \(condition)
        ORDER BY f.confidence DESC, f.updated_at DESC, f.id LIMIT \(limit)
        """, arguments: arguments
    ).map(StoredFact.init(row:))
  }

  /// `GET /api/memory/fact-profile`.
  ///
  /// - Parameters:
  ///   - query: the request's parameters.
  ///   - voice: the session that is up in the guild.
  static func json(_ query: QueryParameters, voice: LoadedMemory?, _ db: Database) throws -> String
  {
    let guild = query.word("guildId")
    let user = query.word("userId")
    let channel = query.word("channelId")
    let text = (query["queryText"] ?? "").trimmingBlanks()
    let head = """
      "guildId":\(JSONText.quoted(guild ?? "")),"userId":\(JSONText.quoted(user)),\
      "channelId":\(JSONText.quoted(channel)),"queryText":\(JSONText.quoted(text))
      """
    guard let guild else {
      return """
        {\(head),"durableProfile":{"userFacts":[],"selfFacts":[],"loreFacts":[],\
        "guidanceFacts":[]},"promptContext":{"recentConversationHistory":[]},\
        "activeVoiceSession":null}
        """
    }
    let shared = try shared(isPortable: false, db)
    let facts = try user.map { try Self.user($0, db) } ?? []
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    return """
      {\(head),"durableProfile":{"userFacts":\(facts.profiles),\
      "selfFacts":\(shared.selves.profiles),"loreFacts":\(shared.lore.profiles),\
      "guidanceFacts":\(shared.guidance.profiles)},"promptContext":\(context.json),\
      "activeVoiceSession":\(voice?.json(user: user) ?? "null")}
      """
  }
}

/// What a voice session that is up has loaded of the memory (Agent/Clanky/CONTRACT.md 5.3).
///
/// Valid as long as the bytes of the voice state are.
struct LoadedMemory {
  /// Somebody in a session.
  struct Person {
    let id: String
    let name: String?
  }

  private let session: ScanObject
  /// Who is there.
  let participants: [Person]

  /// - Parameters:
  ///   - state: passed `Document.check`.
  ///   - guild: whose session; nil when none is up there.
  init?(_ state: UnsafeRawBufferPointer, guild: String) {
    let sessions = ScanObject(state)?.objects("sessions") ?? []
    guard let session = sessions.first(where: { $0.text("guildId") == guild }) else { return nil }
    self.session = session
    participants = session.objects("participants").compactMap { row in
      row.text("userId").map { Person(id: $0, name: row.text("displayName")) }
    }
  }

  /// The name of somebody whom the session knows.
  func name(of user: String) -> String? {
    participants.first { $0.id == user }?.name
      ?? profiles.first { $0.text("userId") == user }?.text("displayName")
  }

  /// `activeVoiceSession`.
  ///
  /// - Parameter user: whose profile is wanted whole.
  func json(user: String?) -> String {
    let people = participants.map { person in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name))}
      """
    }
    let cached = profiles.map { "{\(Self.head($0))}" }
    let mine = profiles.first { user != nil && $0.text("userId") == user }.map { profile in
      """
      {\(Self.head(profile)),"userFacts":\(Self.facts(profile, "userFacts")),\
      "guidanceFacts":\(Self.facts(profile, "guidanceFacts"))}
      """
    }
    return """
      {"sessionId":\(JSONText.quoted(session.text("sessionId"))),\
      "voiceChannelId":\(JSONText.quoted(session.text("voiceChannelId"))),\
      "textChannelId":\(JSONText.quoted(session.text("textChannelId"))),\
      "participantCount":\(participants.count),"participants":[\(people.joined(separator: ","))],\
      "cachedUsers":[\(cached.joined(separator: ","))],"userFactProfile":\(mine ?? "null"),\
      "guildFactProfile":\(guildProfile)}
      """
  }

  private var memory: ScanObject { ScanObject(session["memory"].bytes) ?? ScanObject() }
  private var profiles: [ScanObject] { memory.objects("factProfiles") }

  private var guildProfile: String {
    guard let profile = ScanObject(memory["guildFactProfile"].bytes) else { return "null" }
    return """
      {"loadedAt":\(JSONText.quoted(profile.text("loadedAt"))),\
      "selfFacts":\(Self.facts(profile, "selfFacts")),\
      "loreFacts":\(Self.facts(profile, "loreFacts")),\
      "guidanceFacts":\(Self.facts(profile, "guidanceFacts"))}
      """
  }

  private static func head(_ profile: ScanObject) -> String {
    """
    "userId":\(JSONText.quoted(profile.text("userId") ?? "")),\
    "displayName":\(JSONText.quoted(profile.text("displayName"))),\
    "loadedAt":\(JSONText.quoted(profile.text("loadedAt"))),\
    "factCount":\(profile.objects("userFacts").count)
    """
  }

  /// Facts as the session loaded them, in the form of profiles.
  private static func facts(_ profile: ScanObject, _ name: String) -> String {
    let rows = profile.objects(name).map { row in
      """
      {"id":\(row.json("id")),"scope":null,"userId":null,\
      "subject":\(JSONText.quoted(row.text("subject"))),\
      "factType":\(JSONText.quoted(row.text("factType"))),\
      "fact":\(JSONText.quoted(row.text("fact") ?? "")),"confidence":\(row.json("confidence")),\
      "metadata":{"createdAt":\(JSONText.quoted(row.text("createdAt"))),\
      "updatedAt":\(JSONText.quoted(row.text("updatedAt"))),\
      "guildId":\(JSONText.quoted(row.text("guildId"))),\
      "channelId":\(JSONText.quoted(row.text("channelId"))),\
      "evidenceText":\(JSONText.quoted(row.text("evidenceText"))),\
      "sourceMessageId":\(JSONText.quoted(row.text("sourceMessageId"))),"isLegacy":false}}
      """
    }
    return "[\(rows.joined(separator: ","))]"
  }
}
