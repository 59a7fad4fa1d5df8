import Core
import Records

/// The facts that a prompt would be given (Agent/Clanky/CONTRACT.md 5.3), by whom they are about.
enum FactProfile {
  private static let limit = 40

  static func user(_ id: String, _ db: Database) throws -> [StoredFact] {
    try facts("f.scope = 'user' AND f.user_id = ?1", [id], db)
  }

  /// Those of no person: `self`, `lore`, `guidance` and `behavioral`.
  static func shared(isPortable: Bool, _ db: Database) throws -> [String: [StoredFact]] {
    let plain = "f.fact_type NOT IN ('guidance', 'behavioral')"
    let scope = isPortable ? "f.scope IN ('guild', 'user')" : "f.scope = 'guild'"
    func about(_ subject: String) throws -> [StoredFact] {
      try facts("\(scope) AND f.subject = '\(subject)' AND \(plain)", [], db)
    }
    func typed(_ type: String) throws -> [StoredFact] {
      try facts(
        "\(scope) AND f.subject IN ('__lore__', '__self__') AND f.fact_type = '\(type)'", [], db)
    }
    return [
      "self": try about("__self__"), "lore": try about("__lore__"),
      "guidance": try typed("guidance"), "behavioral": try typed("behavioral"),
    ]
  }

  private static func facts(
    _ condition: String, _ arguments: Arguments, _ db: Database
  ) throws -> [StoredFact] {
    try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND \(condition)
        ORDER BY f.confidence DESC, f.updated_at DESC, f.id LIMIT \(limit)
        """, arguments: arguments
    ).map(StoredFact.init(row:))
  }

  /// `GET /api/memory/fact-profile`.
  static func json(
    _ query: QueryParameters, voice: LoadedMemory?, _ db: Database
  ) throws -> RecordText {
    let guild = query.word("guildId")
    let user = query.word("userId")
    let channel = query.word("channelId")
    let text = (query["queryText"] ?? "").trimmingBlanks()
    let head = RecordText().string("guildId", guild ?? "").stringOrNull("userId", user)
      .stringOrNull("channelId", channel).string("queryText", text)
    func profile(_ facts: [String: [StoredFact]]) -> RecordText {
      ["user", "self", "lore", "guidance"].reduce(RecordText()) { record, name in
        record.objects(name + "Facts", facts[name, default: []].map(\.profile))
      }
    }
    guard let guild else {
      return head.object("durableProfile", profile([:]))
        .object("promptContext", RecordText().objects("recentConversationHistory", []))
        .json("activeVoiceSession", "null")
    }
    var facts = try shared(isPortable: false, db)
    facts["user"] = try user.map { try Self.user($0, db) }
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    return head.object("durableProfile", profile(facts))
      .object("promptContext", context.json)
      .json("activeVoiceSession", voice?.json(user: user).text ?? "null")
  }
}

/// What a voice session that is up has loaded of the memory (Agent/Clanky/CONTRACT.md 5.3).
///
/// Valid as long as the bytes of the voice state are.
struct LoadedMemory {
  private let session: ScanObject
  let participants: [(id: String, name: String?)]

  init?(_ state: UnsafeRawBufferPointer, guild: String) {
    let sessions = ScanObject(state)?.objects("sessions") ?? []
    guard let session = sessions.first(where: { $0.text("guildId") == guild }) else { return nil }
    self.session = session
    participants = session.objects("participants").compactMap { row in
      row.text("userId").map { ($0, row.text("displayName")) }
    }
  }

  func name(of user: String) -> String? {
    participants.first { $0.id == user }?.name
      ?? profiles.first { $0.text("userId") == user }?.text("displayName")
  }

  /// `activeVoiceSession`.
  func json(user: String?) -> RecordText {
    let people = participants.map {
      RecordText().string("userId", $0.id).stringOrNull("displayName", $0.name)
    }
    let mine = profiles.first { user != nil && $0.text("userId") == user }.map { profile in
      Self.facts(["userFacts", "guidanceFacts"], of: profile, behind: Self.head(profile))
    }
    return RecordText().texts("sessionId", "voiceChannelId", "textChannelId", of: session.text)
      .number("participantCount", participants.count).objects("participants", people)
      .objects("cachedUsers", profiles.map(Self.head))
      .json("userFactProfile", mine?.text ?? "null")
      .json("guildFactProfile", guildProfile?.text ?? "null")
  }

  private var memory: ScanObject { ScanObject(session["memory"].bytes) ?? ScanObject() }
  private var profiles: [ScanObject] { memory.objects("factProfiles") }

  private var guildProfile: RecordText? {
    guard let profile = ScanObject(memory["guildFactProfile"].bytes) else { return nil }
    return Self.facts(
      ["selfFacts", "loreFacts", "guidanceFacts"], of: profile,
      behind: RecordText().texts("loadedAt", of: profile.text))
  }

  private static func head(_ profile: ScanObject) -> RecordText {
    RecordText().string("userId", profile.text("userId") ?? "")
      .texts("displayName", "loadedAt", of: profile.text)
      .number("factCount", profile.objects("userFacts").count)
  }

  private static func facts(
    _ lists: [String], of profile: ScanObject, behind head: RecordText
  ) -> RecordText {
    lists.reduce(head) { $0.objects($1, profile.objects($1).map(fact)) }
  }

  private static func fact(_ row: ScanObject) -> RecordText {
    let metadata = RecordText().texts(
      "createdAt", "updatedAt", "guildId", "channelId", "evidenceText", "sourceMessageId",
      of: row.text)
    return RecordText().json("id", row.json("id")).json("scope", "null").json("userId", "null")
      .texts("subject", "factType", of: row.text)
      .string("fact", row.text("fact") ?? "").json("confidence", row.json("confidence"))
      .object("metadata", metadata.bool("isLegacy", false))
  }
}
