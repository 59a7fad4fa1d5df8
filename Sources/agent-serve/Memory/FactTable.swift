import Core
import GRDB

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

  /// Makes the tables.
  static func create(_ db: Database) throws {
    // The words are not those of the texts but what `FactWords` makes of them;
    // the categories keep marks and symbols inside of words.
    try db.execute(
      sql: """
        CREATE TABLE memory_facts (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          created_at TEXT NOT NULL,
          updated_at TEXT NOT NULL,
          scope TEXT NOT NULL,
          guild_id TEXT,
          channel_id TEXT,
          user_id TEXT,
          subject TEXT NOT NULL,
          fact TEXT NOT NULL,
          fact_type TEXT NOT NULL,
          evidence_text TEXT,
          source_message_id TEXT,
          confidence REAL NOT NULL,
          is_legacy INTEGER NOT NULL DEFAULT 0,
          revision INTEGER NOT NULL DEFAULT 1,
          deleted_at TEXT
        );
        CREATE UNIQUE INDEX memory_facts_once
          ON memory_facts (scope, ifnull(guild_id, ''), subject, fact) WHERE deleted_at IS NULL;
        CREATE INDEX memory_facts_by_time
          ON memory_facts (updated_at DESC, id) WHERE deleted_at IS NULL;
        CREATE INDEX memory_facts_by_subject
          ON memory_facts (subject, updated_at DESC, id) WHERE deleted_at IS NULL;
        CREATE INDEX memory_facts_by_confidence
          ON memory_facts (scope, confidence DESC, updated_at DESC) WHERE deleted_at IS NULL;
        CREATE INDEX memory_facts_by_user
          ON memory_facts (user_id, confidence DESC) WHERE deleted_at IS NULL;
        CREATE VIRTUAL TABLE memory_words USING fts5(
          fact, about, prefix = '2 3',
          tokenize = "unicode61 remove_diacritics 2 categories 'L* N* M* Co So'");
        CREATE VIRTUAL TABLE memory_terms USING fts5vocab(memory_words, row);
        CREATE TABLE memory_vectors (
          fact_id INTEGER PRIMARY KEY,
          model TEXT NOT NULL,
          vector BLOB NOT NULL
        );
        """)
  }

  /// Stores facts, all that are not there already.
  ///
  /// - Returns: the id of each, nil for one that is there.
  static func insert(_ facts: [StoredFact], _ db: Database) throws -> [Int64?] {
    let row = try db.cachedStatement(
      sql: """
        INSERT INTO memory_facts (created_at, updated_at, scope, guild_id, channel_id, user_id,
          subject, fact, fact_type, evidence_text, source_message_id, confidence, is_legacy)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
        WHERE NOT EXISTS (SELECT 1 FROM memory_facts WHERE scope = ?3
          AND ifnull(guild_id, '') = ifnull(?4, '') AND subject = ?7 AND fact = ?8
          AND deleted_at IS NULL)
        """)
    return try facts.map { fact in
      row.setUncheckedArguments([
        fact.createdAt, fact.updatedAt, fact.scope, fact.guild, fact.channel, fact.user,
        fact.subject, fact.text, fact.type, fact.evidence, fact.sourceMessage, fact.confidence,
        fact.isLegacy,
      ])
      try row.execute()
      guard db.changesCount > 0 else { return nil }
      let id = db.lastInsertedRowID
      try index(id, fact, db)
      return id
    }
  }

  /// Replaces what an edit replaces.
  ///
  /// - Returns: the fact as stored.
  /// - Throws: `FactRefusal`, or what SQLite says.
  static func edit(_ edit: FactEdit, now: String, _ db: Database) throws -> StoredFact {
    guard var fact = try live(edit.id, guild: edit.guild, db) else { throw FactRefusal.notFound }
    let twin = try Int64.fetchOne(
      db,
      sql: """
        SELECT id FROM memory_facts WHERE scope = ? AND ifnull(guild_id, '') = ? AND subject = ?
          AND fact = ? AND deleted_at IS NULL AND id <> ?
        """, arguments: [fact.scope, fact.guild ?? "", edit.subject, edit.text, fact.id])
    if twin != nil { throw FactRefusal.duplicate }
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

  /// Deletes a fact.
  ///
  /// - Throws: `FactRefusal`, or what SQLite says.
  static func delete(_ id: Int64, guild: String, now: String, _ db: Database) throws {
    guard try live(id, guild: guild, db) != nil else { throw FactRefusal.notFound }
    try db.execute(
      sql: "UPDATE memory_facts SET deleted_at = ? WHERE id = ?", arguments: [now, id])
    try forget(id, db)
  }

  /// A fact that a guild may edit: its own, or one of a person.
  private static func live(_ id: Int64, guild: String, _ db: Database) throws -> StoredFact? {
    let row = try Row.fetchOne(
      db, sql: "SELECT \(columns) FROM memory_facts f WHERE f.id = ? AND f.deleted_at IS NULL",
      arguments: [id])
    guard let fact = row.map(StoredFact.init(row:)), fact.isPortable || fact.guild == guild else {
      return nil
    }
    return fact
  }

  private static func index(_ id: Int64, _ fact: StoredFact, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "INSERT INTO memory_words (rowid, fact, about) VALUES (?, ?, ?)")
    let words = fact.words
    statement.setUncheckedArguments([id, words.fact, words.about])
    try statement.execute()
  }

  private static func forget(_ id: Int64, _ db: Database) throws {
    try db.execute(sql: "DELETE FROM memory_words WHERE rowid = ?", arguments: [id])
    try db.execute(sql: "DELETE FROM memory_vectors WHERE fact_id = ?", arguments: [id])
  }
}

extension StoredFact {
  /// - Parameter row: a row of `FactTable.columns`.
  init(row: Row) {
    id = row[0]
    (createdAt, updatedAt, scope) = (row[1], row[2], row[3])
    (guild, channel, user) = (row[4], row[5], row[6])
    (subject, text, type) = (row[7], row[8], row[9])
    (evidence, sourceMessage, confidence) = (row[10], row[11], row[12])
    (isLegacy, revision) = (row[13], row[14])
  }

  /// What the index keeps of it.
  var words: (fact: String, about: String) {
    (FactWords.indexed(text), FactWords.indexed("\(subject) \(type) \(evidence ?? "")"))
  }
}
