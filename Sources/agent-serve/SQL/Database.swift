import CSQLite

/// A connection to a store, of one thread at a time.
final class Database: @unchecked Sendable {
  private let handle: OpaquePointer
  private var statements: [String: Statement] = [:]

  /// Opens a store, and makes it where there is none and it may be written.
  init(path: String, isReader: Bool = false) throws(DatabaseError) {
    var handle: OpaquePointer?
    let flags =
      SQLITE_OPEN_NOMUTEX
      | (isReader ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = DatabaseError(code, handle)
      sqlite3_close_v2(handle)
      throw error
    }
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
    // Another process may look into the store.
    sqlite3_busy_timeout(handle, 10_000)
  }

  deinit { close() }

  private var isClosed = false

  func close() {
    if isClosed { return }
    isClosed = true
    statements = [:]
    sqlite3_close_v2(handle)
  }

  var lastInsertedRowID: Int64 { sqlite3_last_insert_rowid(handle) }
  var changesCount: Int { Int(sqlite3_changes(handle)) }

  func execute(sql: String) throws(DatabaseError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw DatabaseError(code, handle) }
  }

  func execute(sql: String, arguments: Arguments) throws(DatabaseError) {
    try statement(sql: sql).execute(arguments)
  }

  func statement(sql: String) throws(DatabaseError) -> Statement { try Statement(sql, handle) }

  /// A statement that is kept for the next time. Nobody else runs the same at the same time.
  func kept(sql: String) throws(DatabaseError) -> Statement {
    if let known = statements[sql] { return known }
    let statement = try statement(sql: sql)
    statements[sql] = statement
    return statement
  }

  func rows(sql: String, arguments: Arguments = []) throws(DatabaseError) -> Rows {
    try Rows(statement(sql: sql), arguments)
  }

  func value<Value: SQLValue>(
    _ type: Value.Type, sql: String, arguments: Arguments = []
  ) throws(DatabaseError) -> Value? {
    try rows(sql: sql, arguments: arguments).next()?[0]
  }

  /// Does something in a transaction, which an error undoes.
  func transaction<Value>(_ begin: String, _ body: (Database) throws -> Value) throws -> Value {
    try execute(sql: begin)
    do {
      let value = try body(self)
      try execute(sql: "COMMIT")
      return value
    } catch {
      // After some errors SQLite has undone it already.
      if sqlite3_get_autocommit(handle) == 0 { try? execute(sql: "ROLLBACK") }
      throw error
    }
  }
}
