import CSQLite

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
  ) throws(DatabaseError) -> Value? {
    try Rows(self, arguments).next()?[0]
  }

  /// Lets go of what it read, which would keep a transaction open, and of what it was given.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }
}
