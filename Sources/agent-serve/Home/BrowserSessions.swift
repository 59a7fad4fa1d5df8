import Core
import Foundation
import GRDB

/// `GET /api/agents/browser-sessions`: browser_* rows, grouped by the session
/// that they name (Agent/Clanky/CONTRACT.md 5.4).
struct BrowserSessions: Sendable {
  /// 1 to 200.
  let limit: Int
  /// The earliest row.
  let since: String
  /// The guild's id, nil for all.
  let guild: String?

  private static let kinds = [
    "browser_browse_call", "browser_browse_failed", "browser_tool_step",
    "browser_agent_session_turn",
  ]

  /// - Parameters:
  ///   - query: the request's parameters.
  ///   - now: what `sinceHours` counts back from.
  init(_ query: QueryParameters, now: Timestamp) {
    limit = query.integer("limit", default: 50, in: 1...200)
    since = query.since(now: now) ?? now.before(hours: 24).rfc3339
    guild = query.word("guildId")
  }

  /// The answer's body; the session that was active last comes first.
  func json(_ db: Database) throws -> String {
    let kinds = Self.kinds.map { "'\($0)'" }.joined(separator: ",")
    // A session may have many rows: as the dashboard does, enough of them for
    // the sessions that are wanted, and not all.
    let rows = try Row.fetchCursor(
      db,
      sql: """
        \(ActionStore.columns) WHERE kind IN (\(kinds)) AND created_at >= ?1
          AND (?2 IS NULL OR guild_id = ?2)
        ORDER BY created_at DESC, id DESC LIMIT \(limit * 20)
        """, arguments: [since, guild])
    var order: [String] = []
    var sessions: [String: BrowserSession] = [:]
    while let row = try rows.next() {
      let stored = StoredAction(row: row)
      var metadata = stored.action.metadata ?? "{}"
      metadata.withUTF8 { bytes in
        let row = UnsafeRawBufferPointer(bytes)
        let facts = ScanObject(row) ?? ScanObject()
        let named = (facts.text("sessionId") ?? facts.text("sessionKey") ?? "").trimmingBlanks()
        let id = named.isEmpty ? "browse-\(stored.id)" : named
        if sessions[id] == nil { order.append(id) }
        sessions[id, default: BrowserSession(stored.action.createdAt)].add(stored.action, facts)
      }
    }
    // Rows come newest first, and so do the sessions by their newest row.
    let list = order.prefix(limit).compactMap { id in sessions[id]?.json(id) }
    return """
      {"guildId":\(JSONText.quoted(guild)),"sessions":[\(list.joined(separator: ","))]}
      """
  }
}
