import CSQLite

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
    return text.withUTF8 {
      csqlite_bind_text(statement, place, $0.baseAddress, UInt64($0.count))
    }
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
