import CSQLite
import Core

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

  private init(_ code: Int32, _ message: String) {
    (self.code, self.message) = (code, message)
  }

  static let closed = DatabaseError(SQLITE_MISUSE, "the store is closed")
  /// A store in a place where readers cannot go on beside a writer, as on some network disks.
  static let withoutLog = DatabaseError(
    SQLITE_CANTOPEN, "a write-ahead log cannot be kept in its folder")

  var description: String { message }
}

/// What is said of an error.
func errorText(_ error: any Error) -> String {
  (error as? Failure)?.reason ?? "\(error)"
}
