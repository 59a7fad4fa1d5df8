import Core
import Foundation
import GRDB

/// The actions in SQLite.
///
/// A write-ahead log lets readers go on beside the one writer; every commit is
/// on the disk before it returns (synchronous FULL).
final class ActionStore: Sendable {
  private let database: any DatabaseWriter

  /// Opens the store, and makes it where there is none.
  ///
  /// - Parameter path: a file, or `:memory:`.
  /// - Throws: what SQLite says.
  init(path: String) throws {
    var configuration = Configuration()
    configuration.label = "agent-serve"
    configuration.busyMode = .timeout(10)
    if path == ":memory:" {
      database = try DatabaseQueue(configuration: configuration)
    } else {
      let pool = try DatabasePool(path: Self.sqliteName(path), configuration: configuration)
      // The pool asks for NORMAL, which may lose the last commits with the power.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      database = pool
    }
    try Self.migrator.migrate(database)
  }

  /// SQLite takes names in UTF-8 alone. A file of another name it finds by way of a
  /// descriptor, whose link it follows to the name; that stays open with the store.
  private static func sqliteName(_ path: String) throws(SettingsError) -> String {
    if !FileName.isOdd(path) { return path }
    let descriptor = FileName.with(path) { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else { throw SettingsError(path, systemReason(errno)) }
    return "/proc/self/fd/\(descriptor)"
  }

  /// Closes the store; the log is written back into the file, so that a copy of
  /// the file is a copy of the store.
  func close() {
    // The pool closes its readers last, and those cannot write it back.
    try? database.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try? database.close()
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("actions") { db in
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
    migrator.registerMigration("sessions and documents") { db in
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
      let rows = try Row.fetchCursor(
        db, sql: "SELECT id, metadata FROM actions WHERE instr(metadata, 'sessionId')")
      var sessions: [(Int64, String)] = []
      while let row = try rows.next() {
        if let session = LoggedAction.session(metadata: row[1]) {
          sessions.append((row[0], session))
        }
      }
      let update = try db.makeStatement(sql: "UPDATE actions SET session = ? WHERE id = ?")
      for (id, session) in sessions { try update.execute(arguments: [session, id]) }
    }
    migrator.registerMigration("memory") { try FactTable.create($0) }
    return migrator
  }

  /// Stores actions, all or none, in their order; durable when it returns.
  ///
  /// - Returns: their ids, ascending.
  func insert(_ actions: [LoggedAction]) async throws -> [Int64] {
    try await database.write { db in
      // The content may hold NUL, which only a blob can be bound with.
      let statement = try db.cachedStatement(
        sql: """
          INSERT INTO actions (created_at, guild_id, channel_id, message_id, user_id, kind,
            content, metadata, usd_cost, extra, session)
          VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?, ?, ?, ?)
          """)
      var ids: [Int64] = []
      ids.reserveCapacity(actions.count)
      for action in actions {
        statement.setUncheckedArguments([
          action.createdAt, action.guild, action.channel, action.message, action.user,
          action.kind, action.content.map { Data($0.utf8) }, action.metadata, action.cost,
          action.extra, LoggedAction.session(metadata: action.metadata),
        ])
        try statement.execute()
        ids.append(db.lastInsertedRowID)
      }
      return ids
    }
  }

  /// The newest id ever given, 0 when there is none.
  func newestID() async throws -> Int64 {
    try await database.read { try Self.newestID($0) }
  }

  /// Rows as a query asks for them.
  func actions(_ query: ActionQuery) async throws -> [StoredAction] {
    try await database.read { try Self.actions(query, $0) }
  }

  /// The newest actions together with the newest id, of one instant.
  func snapshot(limit: Int) async throws -> (actions: [StoredAction], newestID: Int64) {
    try await database.read { db in
      (try Self.actions(ActionQuery(limit: limit), db), try Self.newestID(db))
    }
  }

  /// Actions in the order in which they were stored.
  ///
  /// - Parameters:
  ///   - id: the first one has a greater id.
  ///   - limit: at most so many.
  ///   - bytes: stops after the action that makes it more.
  ///   - prefix: what their kinds begin with, empty for all.
  func actions(
    after id: Int64, limit: Int, bytes: Int, kinds prefix: String = ""
  ) async throws -> [StoredAction] {
    try await database.read { db in
      let rows = try Row.fetchCursor(
        db.cachedStatement(
          sql: """
            \(Self.columns) WHERE id > ?1 AND substr(kind, 1, length(?2)) = ?2
            ORDER BY id LIMIT ?3
            """), arguments: [id, prefix, limit])
      var actions: [StoredAction] = []
      var size = 0
      while size < bytes, let row = try rows.next() {
        let stored = StoredAction(row: row)
        size += (stored.action.content?.utf8.count ?? 0) + (stored.action.metadata?.utf8.count ?? 0)
        actions.append(stored)
      }
      return actions
    }
  }

  /// Writes with SQL, all or nothing; durable when it returns.
  func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
    try await database.write(body)
  }

  /// Reads with SQL, for what is counted and not listed.
  func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
    try await database.read(body)
  }

  static let columns = """
    SELECT id, created_at, guild_id, channel_id, message_id, user_id, kind,
      CAST(content AS BLOB), metadata, usd_cost, extra
    FROM actions
    """

  private static func newestID(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'actions'") ?? 0
  }

  private static func actions(_ query: ActionQuery, _ db: Database) throws -> [StoredAction] {
    let (condition, arguments) = query.condition
    let rows = try Row.fetchCursor(
      db, sql: "\(columns) \(condition) ORDER BY created_at DESC, id LIMIT \(query.limit)",
      arguments: StatementArguments(arguments))
    var actions: [StoredAction] = []
    while let row = try rows.next() { actions.append(StoredAction(row: row)) }
    return actions
  }
}

extension StoredAction {
  /// - Parameter row: a row of `ActionStore.columns`.
  init(row: Row) {
    id = row[0]
    let content: Data? = row[7]
    action = LoggedAction(
      createdAt: row[1], guild: row[2], channel: row[3], message: row[4], user: row[5],
      kind: row[6], content: content.map { String(decoding: $0, as: UTF8.self) },
      metadata: row[8], cost: row[9], extra: row[10])
  }
}
