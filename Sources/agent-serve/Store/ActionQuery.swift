import Core
import GRDB

/// What `GET /api/actions` asks for.
struct ActionQuery: Sendable, Equatable {
  /// 1 to 1000.
  var limit = 200
  /// Exact kinds; empty for all.
  var kinds: [String] = []
  /// The earliest `created_at`, nil for all.
  var since: String?
  /// The guild's id, nil for all.
  var guild: String?

  /// The WHERE clause, empty when nothing is asked, and its arguments.
  var condition: (sql: String, arguments: [String]) {
    var parts: [String] = []
    var arguments: [String] = []
    if !kinds.isEmpty {
      parts.append("kind IN (\(kinds.map { _ in "?" }.joined(separator: ", ")))")
      arguments += kinds
    }
    if let since {
      parts.append("created_at >= ?")
      arguments.append(since)
    }
    if let guild {
      parts.append("guild_id = ?")
      arguments.append(guild)
    }
    return (parts.isEmpty ? "" : "WHERE " + parts.joined(separator: " AND "), arguments)
  }
}

extension ActionQuery {
  /// Reads the parameters of a request: out of range is clamped, junk is the
  /// default (Agent/Clanky/CONTRACT.md 1.2).
  ///
  /// - Parameters:
  ///   - query: the parameters.
  ///   - now: what `sinceHours` counts back from.
  init(_ query: QueryParameters, now: Timestamp) {
    limit = query.integer("limit", default: 200, in: 1...1000)
    // SQLite takes 32766 arguments; nobody names so many kinds.
    kinds = (query["kinds"] ?? "").split(separator: ",").prefix(1000)
      .map { $0.trimmingBlanks() }.filter { !$0.isEmpty }
    since = query.since(now: now)
    guild = query.word("guildId")
  }
}

extension Timestamp {
  /// This instant, so many hours earlier; not before 1970.
  func before(hours: Double) -> Timestamp {
    let milliseconds = Double(seconds) * 1000 + Double(nanoseconds / 1_000_000) - hours * 3_600_000
    guard milliseconds > 0 else { return Timestamp(seconds: 0) }
    let whole = Int64(milliseconds)
    return Timestamp(seconds: whole / 1000, nanoseconds: Int32(whole % 1000) * 1_000_000)
  }
}
