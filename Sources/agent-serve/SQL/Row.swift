import CSQLite

/// The row that a statement is at: good until the next one is asked for.
struct Row {
  private let rows: Rows
  private var handle: OpaquePointer { rows.statement.handle }

  fileprivate init(_ rows: Rows) { self.rows = rows }

  /// A column, from 0; NULL is nil.
  subscript<Value: SQLValue>(_ column: Int32) -> Value? {
    if sqlite3_column_type(handle, column) == SQLITE_NULL { return nil }
    return Value(handle, column: column)
  }

  /// A column, from 0, that is never NULL.
  subscript<Value: SQLValue>(_ column: Int32) -> Value {
    let value: Value? = self[column]
    return value ?? Value()
  }
}

final class Rows {
  fileprivate let statement: Statement
  private var isOver = false

  init(_ statement: Statement, _ arguments: Arguments) throws(DatabaseError) {
    self.statement = statement
    try statement.bind(arguments)
  }

  deinit { statement.reset() }

  func next() throws(DatabaseError) -> Row? {
    if isOver { return nil }
    isOver = try !statement.step()
    return isOver ? nil : Row(self)
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
