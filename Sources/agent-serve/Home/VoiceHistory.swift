import Core
import Foundation
import GRDB

/// The voice sessions that are over (Agent/Clanky/CONTRACT.md 5.5).
struct VoiceHistory: Sendable {
  /// 1 to 200.
  let limit: Int
  /// The earliest time of a session's start, nil for all.
  let since: String?
  /// The guild's id, nil for all.
  let guild: String?

  private struct Start {
    let guild: String
    let mode: String
    let time: String
  }

  private struct Ended {
    let time: String
    let json: String
  }

  /// `GET /api/voice/history/sessions`: sessions with a start and an end, the
  /// newest end first.
  func sessions(_ db: Database) throws -> String {
    let rows = try Row.fetchCursor(
      db,
      sql: """
        SELECT session, kind, created_at, guild_id, CAST(content AS BLOB), metadata FROM actions
        WHERE kind IN ('voice_session_start', 'voice_session_end') AND session IS NOT NULL
          AND created_at >= ?1 AND (?2 IS NULL OR guild_id = ?2)
        ORDER BY created_at DESC, id DESC
        """, arguments: [since ?? "", guild])
    var starts: [String: Start] = [:]
    var ends: [(session: String, time: String, reason: String, duration: Int?)] = []
    var seen: Set<String> = []
    while let row = try rows.next() {
      let session: String = row[0]
      let kind: String = row[1]
      var metadata: String = row[5]
      if kind == "voice_session_start" {
        if starts[session] != nil { continue }
        let mode = metadata.withUTF8 { ScanObject(UnsafeRawBufferPointer($0))?.text("mode") }
        starts[session] = Start(guild: row[3] ?? "", mode: mode ?? "voice_agent", time: row[2])
      } else if seen.insert(session).inserted {
        let duration = metadata.withUTF8 {
          ScanObject(UnsafeRawBufferPointer($0))?.number("durationSeconds")
        }
        let content: Data? = row[4]
        let reason = content.map { String(decoding: $0, as: UTF8.self) } ?? ""
        ends.append((session, row[2], reason, duration.flatMap { Int(exactly: $0.rounded()) }))
      }
    }
    // An end without a start tells nothing; the store's order is that of the ends.
    let list = ends.lazy.compactMap { end in
      starts[end.session].map { start in
        """
        {"sessionId":\(JSONText.quoted(end.session)),"guildId":\(JSONText.quoted(start.guild)),\
        "mode":\(JSONText.quoted(start.mode)),"startedAt":\(JSONText.quoted(start.time)),\
        "endedAt":\(JSONText.quoted(end.time)),\
        "durationSeconds":\(end.duration ?? Self.seconds(start.time, end.time)),\
        "endReason":\(JSONText.quoted(end.reason.isEmpty ? "unknown" : end.reason))}
        """
      }
    }
    return "[\(list.prefix(limit).joined(separator: ","))]"
  }

  private static func seconds(_ start: String, _ end: String) -> Int {
    guard let start = Timestamp(rfc3339: start), let end = Timestamp(rfc3339: end) else { return 0 }
    return max(0, Int(end.seconds - start.seconds))
  }

  /// `GET /api/voice/history/sessions/ID/events`: the first 500 rows whose kind
  /// begins `voice_`, oldest first; none for an id that nobody named.
  static func events(_ session: String, _ db: Database) throws -> [StoredAction] {
    // SQLite ends a text at a NUL, and must not find another session.
    if session.utf8.contains(0) { return [] }
    return try Row.fetchAll(
      db,
      sql: """
        \(ActionStore.columns) WHERE session = ? AND kind GLOB 'voice_*'
        ORDER BY created_at, id LIMIT 500
        """, arguments: [session]
    ).map(StoredAction.init(row:))
  }
}
