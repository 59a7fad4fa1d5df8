import Core
import Records

/// The facts that a prompt would be given (Agent/Clanky/CONTRACT.md 5.3), by whom they are about.
struct FactProfile: Sendable {
  static let limit = 40

  static func user(_ id: String, _ db: Database) throws -> [StoredFact] {
    try facts("f.scope = 'user' AND f.user_id = ?1", [id], db)
  }

  struct Shared: Sendable {
    var selves: [StoredFact]
    var lore: [StoredFact]
    var guidance: [StoredFact]
    var behavioral: [StoredFact]
  }

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
    func profile(_ facts: [StoredFact], _ shared: Shared?) -> RecordText {
      RecordText().objects("userFacts", facts.map(\.profile))
        .objects("selfFacts", shared?.selves.map(\.profile) ?? [])
        .objects("loreFacts", shared?.lore.map(\.profile) ?? [])
        .objects("guidanceFacts", shared?.guidance.map(\.profile) ?? [])
    }
    guard let guild else {
      return head.object("durableProfile", profile([], nil))
        .object("promptContext", RecordText().objects("recentConversationHistory", []))
        .json("activeVoiceSession", "null")
    }
    let shared = try shared(isPortable: false, db)
    let facts = try user.map { try Self.user($0, db) } ?? []
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    return head.object("durableProfile", profile(facts, shared))
      .object("promptContext", context.json)
      .json("activeVoiceSession", voice?.json(user: user).text ?? "null")
  }
}

/// What a voice session that is up has loaded of the memory (Agent/Clanky/CONTRACT.md 5.3).
///
/// Valid as long as the bytes of the voice state are.
struct LoadedMemory {
  struct Person {
    let id: String
    let name: String?
  }

  private let session: ScanObject
  let participants: [Person]

  init?(_ state: UnsafeRawBufferPointer, guild: String) {
    let sessions = ScanObject(state)?.objects("sessions") ?? []
    guard let session = sessions.first(where: { $0.text("guildId") == guild }) else { return nil }
    self.session = session
    participants = session.objects("participants").compactMap { row in
      row.text("userId").map { Person(id: $0, name: row.text("displayName")) }
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
      Self.head(profile).objects("userFacts", Self.facts(profile, "userFacts"))
        .objects("guidanceFacts", Self.facts(profile, "guidanceFacts"))
    }
    func id(_ name: String) -> String? { session.text(name) }
    return RecordText().stringOrNull("sessionId", id("sessionId"))
      .stringOrNull("voiceChannelId", id("voiceChannelId"))
      .stringOrNull("textChannelId", id("textChannelId"))
      .number("participantCount", participants.count).objects("participants", people)
      .objects("cachedUsers", profiles.map(Self.head))
      .json("userFactProfile", mine?.text ?? "null")
      .json("guildFactProfile", guildProfile?.text ?? "null")
  }

  private var memory: ScanObject { ScanObject(session["memory"].bytes) ?? ScanObject() }
  private var profiles: [ScanObject] { memory.objects("factProfiles") }

  private var guildProfile: RecordText? {
    guard let profile = ScanObject(memory["guildFactProfile"].bytes) else { return nil }
    return RecordText().stringOrNull("loadedAt", profile.text("loadedAt"))
      .objects("selfFacts", Self.facts(profile, "selfFacts"))
      .objects("loreFacts", Self.facts(profile, "loreFacts"))
      .objects("guidanceFacts", Self.facts(profile, "guidanceFacts"))
  }

  private static func head(_ profile: ScanObject) -> RecordText {
    RecordText().string("userId", profile.text("userId") ?? "")
      .stringOrNull("displayName", profile.text("displayName"))
      .stringOrNull("loadedAt", profile.text("loadedAt"))
      .number("factCount", profile.objects("userFacts").count)
  }

  private static func facts(_ profile: ScanObject, _ name: String) -> [RecordText] {
    profile.objects(name).map { row in
      var metadata = RecordText()
      for name in [
        "createdAt", "updatedAt", "guildId", "channelId", "evidenceText", "sourceMessageId",
      ] {
        metadata = metadata.stringOrNull(name, row.text(name))
      }
      return RecordText().json("id", row.json("id")).json("scope", "null").json("userId", "null")
        .stringOrNull("subject", row.text("subject")).stringOrNull("factType", row.text("factType"))
        .string("fact", row.text("fact") ?? "").json("confidence", row.json("confidence"))
        .object("metadata", metadata.bool("isLegacy", false))
    }
  }
}
