import Core
import Records

/// `GET /api/memory/search` (Agent/Clanky/CONTRACT.md 5.2): the facts of a guild that a text is
/// about, the best first.
struct FactSearch: Sendable {
  let text: String
  /// Whose facts; nil answers nothing.
  let guild: String?
  let channel: String?
  /// What is echoed: a number as it was asked for, or null.
  let limit: String
  /// How many results, 1 to 24.
  let count: Int

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

  var isComplete: Bool { !text.isEmpty && guild != nil }

  var wantsAll: Bool { text == "__ALL__" }

  static let depth = 60

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

  func semantic(_ likeness: [(id: Int64, cosine: Float)], _ db: Database) throws -> [FactMatch] {
    let statement = try db.kept(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.id = ? AND f.deleted_at IS NULL AND f.scope = 'guild' AND f.guild_id = ?
        """)
    var matches: [FactMatch] = []
    for (id, cosine) in likeness {
      guard let row = try Rows(statement, [id, guild]).next() else { continue }
      var match = FactMatch(fact: StoredFact(row: row))
      match.semantic = Double(max(cosine, 0))
      matches.append(match)
      if matches.count == Self.depth { break }
    }
    return matches
  }

  func all(_ db: Database) throws -> [FactMatch] {
    try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND f.scope = 'guild'
        ORDER BY f.confidence DESC, f.updated_at DESC LIMIT \(count)
        """
    ).map { FactMatch(fact: StoredFact(row: $0)) }
  }

  func json(_ matches: [FactMatch]) -> RecordText {
    let head = isComplete ? RecordText() : RecordText().objects("results", [])
    let body = head.string("queryText", text).string("guildId", guild ?? "")
      .stringOrNull("channelId", channel)
    if !isComplete { return body.number("limit", 0) }
    return body.json("limit", limit).objects("results", matches.prefix(count).map(\.json))
  }
}

struct FactMatch: Sendable {
  let fact: StoredFact
  /// 0 to 1: what results are ordered by.
  var score = 0.0
  /// 0 to 1: the cosine of its vector with the query's.
  var semantic = 0.0
  /// 0 to 1: how much of the query its words are.
  var lexical = 0.0

  /// What speaks for a fact beside the text, 0 to 0.25: the agent is sure of it,
  /// it is fresh, it belongs to the channel.
  func standing(in channel: String?, now: Timestamp) -> Double {
    let days = Timestamp(rfc3339: fact.updatedAt).map { Double(now.seconds - $0.seconds) / 86400 }
    let age = max(days ?? 365, 0)
    let isHere = channel != nil && fact.channel == channel
    // Half of it after a month and a half.
    return 0.1 * fact.confidence + 0.1 / (1 + age.rounded(.down) / 45) + (isHere ? 0.05 : 0)
  }

  func precedes(_ other: FactMatch) -> Bool {
    if score != other.score { return score > other.score }
    if fact.updatedAt != other.fact.updatedAt { return fact.updatedAt > other.fact.updatedAt }
    return fact.id < other.fact.id
  }

  var json: RecordText {
    func short(_ value: Double) -> Double { (value * 1e6).rounded() / 1e6 }
    return fact.row.number("score", short(score)).number("semanticScore", short(semantic))
      .number("lexicalScore", short(lexical))
  }

  /// Fuses two rankings by reciprocal rank (Cormack, Clarke, Büttcher: Reciprocal
  /// Rank Fusion outperforms Condorcet, SIGIR 2009, with their k of 60): a fact
  /// counts for what place it has in each, whatever the scales.
  static func fused(_ lexical: [FactMatch], _ semantic: [FactMatch]) -> [FactMatch] {
    var found: [Int64: FactMatch] = [:]
    var scores: [Int64: Double] = [:]
    for list in [lexical, semantic] {
      for (place, match) in list.enumerated() {
        var joint = found[match.fact.id] ?? match
        joint.lexical = max(joint.lexical, match.lexical)
        joint.semantic = max(joint.semantic, match.semantic)
        found[match.fact.id] = joint
        scores[match.fact.id, default: 0] += 61 / Double(61 + place) / 2
      }
    }
    return found.values.map { match in
      var match = match
      match.score = scores[match.fact.id] ?? 0
      return match
    }.sorted { $0.precedes($1) }
  }
}
