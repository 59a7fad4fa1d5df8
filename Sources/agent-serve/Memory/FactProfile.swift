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
