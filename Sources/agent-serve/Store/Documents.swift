import Core

final class Documents: Sendable {
  private let store: ActionStore
  private let entries = Guarded<[Document: (bytes: [UInt8], line: String, sequence: Int)]>([:])
  private let changes = Guarded(0)

  init(_ store: ActionStore) async throws {
    self.store = store
    for (document, bytes) in try await store.documents() { set(document, bytes, 0) }
  }

  /// Replaces a document; on the disk when it returns.
  func put(_ document: Document, _ bytes: [UInt8]) async throws {
    // The numbers are given while nobody else can write: who was stored last
    // is seen last, whoever comes back first.
    let sequence = try await store.put(document, bytes, at: .now()) {
      self.changes.withLock { changes in
        changes += 1
        return changes
      }
    }
    set(document, bytes, sequence)
  }

  func bytes(_ document: Document) -> [UInt8] {
    entries.withLock { $0[document]?.bytes } ?? Array(document.absent.utf8)
  }

  func line(_ document: Document) -> String {
    entries.withLock { $0[document]?.line } ?? document.absent
  }

  func has(_ document: Document) -> Bool { entries.withLock { $0[document] != nil } }

  var version: Int { entries.withLock { $0.values.reduce(0) { $0 + $1.sequence } } }

  private func set(_ document: Document, _ bytes: [UInt8], _ sequence: Int) {
    let line = bytes.withUnsafeBytes(JSONText.oneLine)
    entries.withLock { entries in
      if let known = entries[document], known.sequence > sequence { return }
      entries[document] = (bytes, line, sequence)
    }
  }
}

extension ActionStore {
  func documents() async throws -> [(Document, [UInt8])] {
    try await read { db in
      try db.rows(sql: "SELECT name, body FROM documents").compactMap { row in
        // A later version may know more.
        guard let document = Document(rawValue: row[0]) else { return nil }
        let body: [UInt8] = row[1]
        return (document, body)
      }
    }
  }

  /// Stores a document instead of the one before; durable when it returns.
  func put<T: Sendable>(
    _ document: Document, _ bytes: [UInt8], at time: Timestamp,
    inside: @escaping @Sendable () -> T
  ) async throws -> T {
    try await write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO documents (name, body, updated_at) VALUES (?, ?, ?)",
        arguments: [document.rawValue, bytes, time.rfc3339])
      return inside()
    }
  }
}
