import Core
import GRDB

/// `GET /api/memory/search` (Agent/Clanky/CONTRACT.md 5.2): the facts of a guild that a text is
/// about, the best first.
struct FactSearch: Sendable {
  /// What is looked for, without blanks around it.
  let text: String
  /// Whose facts; nil answers nothing.
  let guild: String?
  /// Prefers facts of a channel.
  let channel: String?
  /// What is echoed: a number as it was asked for, or null.
  let limit: String
  /// How many results, 1 to 24.
  let count: Int

  /// - Parameter query: the request's parameters.
  init(_ query: QueryParameters) {
    text = (query["q"] ?? "").trimmingBlanks()
    guild = query.word("guildId")
    channel = query.word("channelId")
    if query.word("limit") == nil {
      (limit, count) = ("10", 10)
    } else {
      limit = query.number("limit").map(JSONText.number) ?? "null"
      count = query.integer("limit", default: 10, in: 1...24)
    }
  }

  /// Whether there is anything to look for; if not the answer is empty.
  var isComplete: Bool { !text.isEmpty && guild != nil }

  /// The query that lists everything, without a ranking.
  var wantsAll: Bool { text == "__ALL__" }

  /// So many of each ranking are looked at.
  static let depth = 60

  /// The best facts by their words.
  func lexical(_ now: Timestamp, _ db: Database) throws -> [FactMatch] {
    let query = try FactQuery(text, db)
    let rows = try query.candidates(guild: guild ?? "", depth: Self.depth, db)
    let best = rows.map(\.rank).max() ?? 0
    var matches: [FactMatch] = []
    for (fact, rank) in rows {
      let share = best > 0 ? rank / best : 1
      let lexical = query.coverage(of: fact) * (0.6 + 0.4 * share)
      if lexical < Self.gate { continue }
      var match = FactMatch(fact: fact, lexical: lexical)
      match.score = 0.75 * lexical + match.standing(in: channel, now: now)
      matches.append(match)
    }
    return matches.sorted { $0.precedes($1) }
  }

  /// What is less about the text than this shares no more than common words.
  private static let gate = 0.1

  /// Facts by their vectors' likeness, the likest first.
  ///
  /// - Parameter likeness: facts' ids with a cosine each, in that order.
  func semantic(_ likeness: [(id: Int64, cosine: Float)], _ db: Database) throws -> [FactMatch] {
    let statement = try db.cachedStatement(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.id = ? AND f.deleted_at IS NULL AND f.scope = 'guild' AND f.guild_id = ?
        """)
    var matches: [FactMatch] = []
    for (id, cosine) in likeness {
      guard let row = try Row.fetchOne(statement, arguments: [id, guild]) else { continue }
      var match = FactMatch(fact: StoredFact(row: row))
      match.semantic = Double(max(cosine, 0))
      matches.append(match)
      if matches.count == Self.depth { break }
    }
    return matches
  }

  /// The facts of all guilds, as the dashboard lists them.
  func all(_ db: Database) throws -> [FactMatch] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND f.scope = 'guild'
        ORDER BY f.confidence DESC, f.updated_at DESC LIMIT \(count)
        """
    ).map { FactMatch(fact: StoredFact(row: $0)) }
  }

  /// The answer's body.
  func json(_ matches: [FactMatch]) -> String {
    let guild = JSONText.quoted(self.guild ?? "")
    let channel = JSONText.quoted(self.channel)
    if !isComplete {
      return """
        {"results":[],"queryText":\(JSONText.quoted(text)),"guildId":\(guild),\
        "channelId":\(channel),"limit":0}
        """
    }
    return """
      {"queryText":\(JSONText.quoted(text)),"guildId":\(guild),"channelId":\(channel),\
      "limit":\(limit),"results":[\(matches.prefix(count).map(\.json).joined(separator: ","))]}
      """
  }
}
