import Core
import Records

/// The facts in SQLite, and the index of their words beside them.
///
/// A fact that was deleted keeps its row, so that its id is not used again, and
/// leaves the index.
enum FactTable {
  static let columns = """
    f.id, f.created_at, f.updated_at, f.scope, f.guild_id, f.channel_id, f.user_id, f.subject,
    f.fact, f.fact_type, f.evidence_text, f.source_message_id, f.confidence, f.is_legacy,
    f.revision
    """

  /// Stores facts, all that are not there already. Returns the id of each, nil for one that is
  /// there.
  static func insert(_ facts: [StoredFact], _ db: Database) throws -> [Int64?] {
    let row = try db.kept(
      sql: """
        INSERT INTO memory_facts (created_at, updated_at, scope, guild_id, channel_id, user_id,
          subject, fact, fact_type, evidence_text, source_message_id, confidence, is_legacy)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
        WHERE NOT EXISTS (SELECT 1 FROM memory_facts WHERE scope = ?3
          AND ifnull(guild_id, '') = ifnull(?4, '') AND subject = ?7 AND fact = ?8
          AND deleted_at IS NULL)
        """)
    return try facts.map { fact in
      try row.execute([
        fact.createdAt, fact.updatedAt, fact.scope, fact.guild, fact.channel, fact.user,
        fact.subject, fact.text, fact.type, fact.evidence, fact.sourceMessage, fact.confidence,
        fact.isLegacy,
      ])
      guard db.changesCount > 0 else { return nil }
      let id = db.lastInsertedRowID
      try index(id, fact, db)
      return id
    }
  }

  static func edit(_ edit: FactEdit, now: String, _ db: Database) throws -> StoredFact {
    guard var fact = try live(edit.id, guild: edit.guild, db) else { throw Refusal.notFound }
    let twin = try db.value(
      Int64.self,
      sql: """
        SELECT id FROM memory_facts WHERE scope = ? AND ifnull(guild_id, '') = ? AND subject = ?
          AND fact = ? AND deleted_at IS NULL AND id <> ?
        """, arguments: [fact.scope, fact.guild ?? "", edit.subject, edit.text, fact.id])
    if twin != nil { throw Refusal.duplicate }
    (fact.subject, fact.text, fact.type) = (edit.subject, edit.text, edit.type)
    (fact.evidence, fact.confidence, fact.updatedAt) = (edit.evidence, edit.confidence, now)
    fact.revision += 1
    try db.execute(
      sql: """
        UPDATE memory_facts SET updated_at = ?, subject = ?, fact = ?, fact_type = ?,
          evidence_text = ?, confidence = ?, revision = ? WHERE id = ?
        """,
      arguments: [
        fact.updatedAt, fact.subject, fact.text, fact.type, fact.evidence, fact.confidence,
        fact.revision, fact.id,
      ])
    try forget(fact.id, db)
    try index(fact.id, fact, db)
    return fact
  }

  static func delete(_ id: Int64, guild: String, now: String, _ db: Database) throws {
    guard try live(id, guild: guild, db) != nil else { throw Refusal.notFound }
    try db.execute(
      sql: "UPDATE memory_facts SET deleted_at = ? WHERE id = ?", arguments: [now, id])
    try forget(id, db)
  }

  /// A fact that a guild may edit: its own, or one of a person.
  private static func live(_ id: Int64, guild: String, _ db: Database) throws -> StoredFact? {
    let row = try db.rows(
      sql: "SELECT \(columns) FROM memory_facts f WHERE f.id = ? AND f.deleted_at IS NULL",
      arguments: [id]
    ).next()
    guard let fact = row.map(StoredFact.init(row:)), fact.isPortable || fact.guild == guild else {
      return nil
    }
    return fact
  }

  private static func index(_ id: Int64, _ fact: StoredFact, _ db: Database) throws {
    let statement = try db.kept(
      sql: "INSERT INTO memory_words (rowid, fact, about) VALUES (?, ?, ?)")
    let words = fact.words
    try statement.execute([id, words.fact, words.about])
  }

  private static func forget(_ id: Int64, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM memory_words WHERE rowid = ?", arguments: [id])
    try db.execute(sql: "DELETE FROM memory_vectors WHERE fact_id = ?", arguments: [id])
  }
}

extension StoredFact {
  init(row: Row) {
    id = row[0]
    (createdAt, updatedAt, scope) = (row[1], row[2], row[3])
    (guild, channel, user) = (row[4], row[5], row[6])
    (subject, text, type) = (row[7], row[8], row[9])
    (evidence, sourceMessage, confidence) = (row[10], row[11], row[12])
    (isLegacy, revision) = (row[13], row[14])
  }

  var words: (fact: String, about: String) {
    (FactWords.indexed(text), FactWords.indexed("\(subject) \(type) \(evidence ?? "")"))
  }
}

/// One durable fact of the agent's memory (Agent/Clanky/CONTRACT.md 5.2).
struct StoredFact: Sendable, Equatable {
  /// Never used twice; 0 for a fact that is not stored yet.
  var id: Int64 = 0
  /// RFC 3339 in UTC with three decimals.
  var createdAt: String
  var updatedAt: String
  /// `guild`, `user`, `owner`, or another word.
  var scope: String
  /// The guild of a guild-scope fact; nil for facts of users and the owner.
  var guild: String?
  var channel: String?
  var user: String?
  /// A user's id, `__lore__`, `__self__`, `__owner__`, or another word.
  var subject: String
  var text: String
  /// `preference`, `profile`, ...; never empty.
  var type: String
  var evidence: String?
  var sourceMessage: String?
  /// 0 to 1.
  var confidence: Double
  var isLegacy = false
  var revision: Int64 = 1

  /// Whether a fact's guild is what decides who may edit it.
  var isPortable: Bool { Self.isPortable(scope) }

  /// Whether facts of a scope belong to a person and not to a guild.
  static func isPortable(_ scope: String) -> Bool { scope == "user" || scope == "owner" }
}

extension StoredFact {
  var editable: RecordText { row.object("metadata", RecordText().bool("isLegacy", isLegacy)) }

  /// A row in the order of the dashboard, without its metadata.
  var row: RecordText {
    RecordText().number("id", id).string("created_at", createdAt).string("updated_at", updatedAt)
      .string("scope", scope).stringOrNull("guild_id", guild).stringOrNull("channel_id", channel)
      .stringOrNull("user_id", user).string("subject", subject).string("fact", text)
      .string("fact_type", type).stringOrNull("evidence_text", evidence)
      .stringOrNull("source_message_id", sourceMessage).number("confidence", confidence)
  }

  /// The camelCase form of profiles and snapshots (Agent/Clanky/CONTRACT.md 5.3).
  var profile: RecordText {
    let metadata = RecordText().string("createdAt", createdAt).string("updatedAt", updatedAt)
      .stringOrNull("guildId", guild).stringOrNull("channelId", channel)
      .stringOrNull("evidenceText", evidence).stringOrNull("sourceMessageId", sourceMessage)
      .bool("isLegacy", isLegacy)
    return RecordText().number("id", id).string("scope", scope).stringOrNull("userId", user)
      .string("subject", subject).string("factType", type).string("fact", text)
      .number("confidence", confidence).object("metadata", metadata)
  }
}
