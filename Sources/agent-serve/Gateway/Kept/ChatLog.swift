import Core

struct ChatMessage: Equatable, Sendable {
  /// `user` or `assistant`.
  let role: String
  let text: String
  /// Milliseconds.
  let time: Int
  /// Never that of another one; nil for one that is not stored.
  var id: Int64?
}

/// Its key, `agent:main:main`; an id that is never used for another one; when it was last spoken
/// in, milliseconds; the beginnings of what was said to the agent first, and of what was said last.
typealias ChatSession = (key: String, id: String, updated: Int, first: String?, last: String?)

extension ActionStore {
  /// How much text one page may have, bytes.
  private static let pageSize = 6 << 20

  /// Keeps what was said; durable when it returns.
  @discardableResult
  func add(_ message: ChatMessage, to session: String) async throws -> Int64 {
    try await write { db in
      try db.execute(
        sql: """
          INSERT INTO chat_sessions (key, id, updated_at) VALUES (?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at
          """,
        arguments: [session, randomUUID(), message.time])
      try db.execute(
        sql: """
          INSERT INTO chat_messages (session, role, text, created_at)
          VALUES (?, ?, CAST(? AS TEXT), ?)
          """,
        arguments: [session, message.role, Array(message.text.utf8), message.time])
      return db.lastInsertedRowID
    }
  }

  /// The newest messages of a conversation, oldest first.
  func chat(_ session: String, offset: Int, limit: Int) async throws -> (
    messages: [ChatMessage], sessionID: String?, hasMore: Bool
  ) {
    try await read { db in
      let id = try db.value(
        String.self, sql: "SELECT id FROM chat_sessions WHERE key = ?", arguments: [session])
      var (messages, hasMore) = ([ChatMessage](), false)
      let rows = try db.rows(
        sql: """
          SELECT role, CAST(text AS BLOB), created_at, id FROM chat_messages
          WHERE session = ? ORDER BY id DESC LIMIT ? OFFSET ?
          """, arguments: [session, limit + 1, offset])
      var size = 0
      while let row = try rows.next() {
        let text: String = row[1]
        size += text.utf8.count
        hasMore = messages.count == limit || size > Self.pageSize && !messages.isEmpty
        if hasMore { break }
        messages.append(ChatMessage(role: row[0], text: text, time: row[2], id: row[3]))
      }
      return (messages.reversed(), id, hasMore)
    }
  }

  /// The conversations, the one last spoken in first.
  func chatSessions(
    limit: Int, since: Int, where isWanted: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws -> [ChatSession] {
    try await read { db in
      let rows = try db.rows(
        sql: """
          SELECT key, id, updated_at FROM chat_sessions WHERE updated_at >= ?
          ORDER BY updated_at DESC, key
          """, arguments: [since])
      let last = try db.statement(
        sql: """
          SELECT CAST(substr(text, 1, 120) AS BLOB) FROM chat_messages WHERE session = ?
          ORDER BY id DESC LIMIT 1
          """)
      let first = try db.statement(
        sql: """
          SELECT CAST(substr(text, 1, 120) AS BLOB) FROM chat_messages
          WHERE session = ? AND role = 'user' ORDER BY id LIMIT 1
          """)
      var sessions: [ChatSession] = []
      while sessions.count < limit, let row = try rows.next() {
        let key: String = row[0]
        guard isWanted(key) else { continue }
        sessions.append(
          (
            key, row[1], row[2], try first.value(String.self, [key]),
            try last.value(String.self, [key])
          ))
      }
      return sessions
    }
  }
}
