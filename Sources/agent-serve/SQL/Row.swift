import CSQLite

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
