import Core
import Foundation
import GRDB

extension ActionStore {
  /// Every document that was put.
  func documents() async throws -> [(Document, [UInt8])] {
    try await read { db in
      try Row.fetchAll(db, sql: "SELECT name, body FROM documents").compactMap { row in
        // A later version may know more.
        guard let document = Document(rawValue: row[0]) else { return nil }
        let body: Data = row[1]
        return (document, Array(body))
      }
    }
  }

  /// Stores a document in the place of the one before; durable when it returns.
  ///
  /// - Parameters:
  ///   - document: which one.
  ///   - bytes: JSON.
  ///   - time: now.
  ///   - inside: called within the transaction.
  /// - Returns: what `inside` returned.
  func put<T: Sendable>(
    _ document: Document, _ bytes: [UInt8], at time: Timestamp,
    inside: @escaping @Sendable () -> T
  ) async throws -> T {
    try await write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO documents (name, body, updated_at) VALUES (?, ?, ?)",
        arguments: [document.rawValue, Data(bytes), time.rfc3339])
      return inside()
    }
  }
}
