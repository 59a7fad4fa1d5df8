import CSQLite
import Core

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
  ) throws(DatabaseError) -> Value? { try rows(sql: sql, arguments: arguments).next()?[0] }

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

struct DatabaseError: Error, CustomStringConvertible {
  /// One of SQLite's result codes, the extended one.
  let code: Int32
  let message: String

  /// Whether another process has the database locked.
  var isBusy: Bool { [SQLITE_BUSY, SQLITE_LOCKED].contains(code & 0xff) }

  init(_ code: Int32, _ connection: OpaquePointer?) {
    self.code = connection.map(sqlite3_extended_errcode) ?? code
    message = String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
  }

  private init(_ code: Int32, _ message: String) { (self.code, self.message) = (code, message) }

  static let closed = DatabaseError(SQLITE_MISUSE, "the store is closed")
  /// A store in a place where readers cannot go on beside a writer, as on some network disks.
  static let withoutLog = DatabaseError(
    SQLITE_CANTOPEN, "a write-ahead log cannot be kept in its folder")

  var description: String { message }
}

/// What is said of an error.
func errorText(_ error: any Error) -> String { (error as? Failure)?.reason ?? "\(error)" }

/// What the question marks of a statement are given; nil is NULL.
typealias Arguments = [(any SQLValue)?]

final class Statement {
  let handle: OpaquePointer
  private let connection: OpaquePointer

  init(_ sql: String, _ connection: OpaquePointer) throws(DatabaseError) {
    var handle: OpaquePointer?
    var sql = sql
    let code = sql.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_prepare_v2(connection, $0.baseAddress, Int32($0.count), &handle, nil)
      }
    }
    guard code == SQLITE_OK, let handle else { throw DatabaseError(code, connection) }
    (self.handle, self.connection) = (handle, connection)
  }

  deinit { sqlite3_finalize(handle) }

  func bind(_ arguments: Arguments) throws(DatabaseError) {
    reset()
    for (index, value) in arguments.enumerated() {
      let place = Int32(index + 1)
      let code = value?.bind(to: handle, at: place) ?? sqlite3_bind_null(handle, place)
      if code != SQLITE_OK { throw DatabaseError(code, connection) }
    }
  }

  /// Goes to the next row. Returns whether there is one.
  func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      let error = DatabaseError(code, connection)
      reset()
      throw error
    }
  }

  func execute(_ arguments: Arguments = []) throws(DatabaseError) {
    try bind(arguments)
    defer { reset() }
    while try step() {}
  }

  func value<Value: SQLValue>(
    _ type: Value.Type, _ arguments: Arguments
  ) throws(DatabaseError) -> Value? { try Rows(self, arguments).next()?[0] }

  /// Lets go of what it read, which would keep a transaction open, and of what it was given.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }
}

/// The rows of a statement, at one of them: that is good until the next one is asked for.
final class Rows {
  private let statement: Statement
  private var isOver = false

  init(_ statement: Statement, _ arguments: Arguments) throws(DatabaseError) {
    self.statement = statement
    try statement.bind(arguments)
  }

  deinit { statement.reset() }

  func next() throws(DatabaseError) -> Row? {
    if isOver { return nil }
    isOver = try !statement.step()
    return isOver ? nil : self
  }

  /// A column, from 0; NULL is nil.
  subscript<Value: SQLValue>(_ column: Int32) -> Value? {
    if sqlite3_column_type(statement.handle, column) == SQLITE_NULL { return nil }
    return Value(statement.handle, column: column)
  }

  /// A column, from 0, that is never NULL.
  subscript<Value: SQLValue>(_ column: Int32) -> Value {
    let value: Value? = self[column]
    return value ?? Value()
  }

  func map<Value>(_ transform: (Row) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    while let row = try next() { values.append(try transform(row)) }
    return values
  }

  func compactMap<Value>(_ transform: (Row) throws -> Value?) throws -> [Value] {
    try map(transform).compactMap { $0 }
  }
}

typealias Row = Rows

protocol SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32

  init(_ statement: OpaquePointer, column: Int32)

  init()
}

extension FixedWidthInteger {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, Int64(self))
  }

  init(_ statement: OpaquePointer, column: Int32) {
    self.init(truncatingIfNeeded: sqlite3_column_int64(statement, column))
  }
}

extension Int64: SQLValue {}
extension Int: SQLValue {}

extension Bool: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, self ? 1 : 0)
  }

  init(_ statement: OpaquePointer, column: Int32) {
    self = sqlite3_column_int64(statement, column) != 0
  }
}

extension Double: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_double(statement, place, self)
  }

  init(_ statement: OpaquePointer, column: Int32) {
    self = sqlite3_column_double(statement, column)
  }
}

extension String: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { csqlite_bind_text(statement, place, $0.baseAddress, UInt64($0.count)) }
  }

  init(_ statement: OpaquePointer, column: Int32) {
    // The text first: SQLite counts the bytes of what it converted to. Of a blob they may have a
    // NUL among them.
    let text = sqlite3_column_text(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    self.init(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }
}

extension [UInt8]: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    withUnsafeBytes { csqlite_bind_blob(statement, place, $0.baseAddress, UInt64($0.count)) }
  }

  init(_ statement: OpaquePointer, column: Int32) {
    let bytes = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    self.init(UnsafeRawBufferPointer(start: bytes, count: count))
  }
}
