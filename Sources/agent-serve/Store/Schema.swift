extension ActionStore {
  /// Makes the tables that are not there. Which steps a store has gone is in its table
  /// grdb_migrations, whose name is that of the library that made it at first.
  static func migrate(_ db: Database) throws {
    try db.execute(
      sql: "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    for (name, make) in steps {
      let known = try db.value(
        String.self, sql: "SELECT identifier FROM grdb_migrations WHERE identifier = ?",
        arguments: [name])
      if known != nil { continue }
      try make(db)
      try db.execute(sql: "INSERT INTO grdb_migrations VALUES (?)", arguments: [name])
    }
  }

  private static let steps: [(name: String, make: @Sendable (Database) throws -> Void)] = [
    ("actions", createActions), ("sessions and documents", createDocuments),
    ("memory", createMemory), ("gateway", createGateway), ("bus", createBus),
    ("small letters", foldKeys),
  ]

  @Sendable private static func createActions(_ db: Database) throws {
    // AUTOINCREMENT: an id is never used twice, so that a client's last
    // event id never names another action. usd_cost has no affinity: the
    // digits stay as they came.
    try db.execute(
      sql: """
        CREATE TABLE actions (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          created_at TEXT NOT NULL,
          guild_id TEXT,
          channel_id TEXT,
          message_id TEXT,
          user_id TEXT,
          kind TEXT NOT NULL,
          content TEXT,
          metadata TEXT,
          usd_cost BLOB,
          extra TEXT NOT NULL DEFAULT ''
        );
        CREATE INDEX actions_by_time ON actions (created_at DESC, id);
        CREATE INDEX actions_by_kind ON actions (kind, created_at DESC, id);
        CREATE INDEX actions_by_guild ON actions (guild_id, created_at DESC, id);
        """)
  }

  @Sendable private static func createDocuments(_ db: Database) throws {
    // Only what belongs to a session is in the index.
    try db.execute(
      sql: """
        ALTER TABLE actions ADD COLUMN session TEXT;
        CREATE INDEX actions_by_session ON actions (session, created_at, id)
          WHERE session IS NOT NULL;
        CREATE TABLE documents (
          name TEXT PRIMARY KEY,
          body BLOB NOT NULL,
          updated_at TEXT NOT NULL
        );
        """)
    let rows = try db.rows(
      sql: "SELECT id, metadata FROM actions WHERE instr(metadata, 'sessionId')")
    var sessions: [(Int64, String)] = []
    while let row = try rows.next() {
      if let session = LoggedAction.session(metadata: row[1]) { sessions.append((row[0], session)) }
    }
    let update = try db.statement(sql: "UPDATE actions SET session = ? WHERE id = ?")
    for (id, session) in sessions { try update.execute([session, id]) }
  }

  @Sendable private static func createGateway(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE gateway_devices (
          id TEXT PRIMARY KEY,
          public_key TEXT NOT NULL,
          client TEXT NOT NULL,
          platform TEXT NOT NULL,
          name TEXT,
          scopes TEXT NOT NULL,
          token TEXT NOT NULL,
          approved_at INTEGER NOT NULL
        );
        CREATE TABLE chat_sessions (
          key TEXT PRIMARY KEY,
          id TEXT NOT NULL,
          updated_at INTEGER NOT NULL
        );
        CREATE TABLE chat_messages (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          session TEXT NOT NULL,
          role TEXT NOT NULL,
          text TEXT NOT NULL,
          created_at INTEGER NOT NULL
        );
        CREATE INDEX chat_messages_by_session ON chat_messages (session, id);
        """)
  }

  /// Has the keys of conversations in small letters, as the gateway does: what was said under
  /// several spellings is one conversation.
  @Sendable private static func foldKeys(_ db: Database) throws {
    let sessions = try db.rows(
      sql: "SELECT key FROM chat_sessions WHERE key NOT LIKE 'agent:main:riff:%'")
    var keys: [String] = []
    while let row = try sessions.next() { keys.append(row[0]) }
    for key in keys {
      guard let folded = try? SessionKey(key).text, folded != key else { continue }
      try db.execute(
        sql: "UPDATE chat_messages SET session = ? WHERE session = ?", arguments: [folded, key])
      try db.execute(
        sql: """
          INSERT INTO chat_sessions (key, id, updated_at)
          SELECT ?, id, updated_at FROM chat_sessions WHERE key = ?
          ON CONFLICT (key) DO UPDATE SET updated_at = max(updated_at, excluded.updated_at)
          """, arguments: [folded, key])
      try db.execute(sql: "DELETE FROM chat_sessions WHERE key = ?", arguments: [key])
    }
  }

  @Sendable private static func createMemory(_ db: Database) throws {
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
}
