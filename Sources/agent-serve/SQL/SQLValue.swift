import CSQLite

protocol SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32

  init(_ statement: OpaquePointer, column: Int32)

  init()
}

extension Int64: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, self)
  }

  init(_ statement: OpaquePointer, column: Int32) {
    self = sqlite3_column_int64(statement, column)
  }
}

extension Int: SQLValue {
  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    sqlite3_bind_int64(statement, place, Int64(self))
  }

  init(_ statement: OpaquePointer, column: Int32) {
    self.init(truncatingIfNeeded: sqlite3_column_int64(statement, column))
  }
}

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
    // The text first: SQLite counts the bytes of what it converted to.
    let text = sqlite3_column_text(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    self.init(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }
}

/// A text as a blob: with NUL in it, it can be bound in no other way.
struct TextBlob: SQLValue {
  private let text: String

  init(_ text: String) { self.text = text }

  init() { text = "" }

  init(_ statement: OpaquePointer, column: Int32) {
    text = String(decoding: [UInt8](statement, column: column), as: UTF8.self)
  }

  func bind(to statement: OpaquePointer, at place: Int32) -> Int32 {
    var text = text
    return text.withUTF8 {
      csqlite_bind_blob(statement, place, $0.baseAddress, UInt64($0.count))
    }
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
