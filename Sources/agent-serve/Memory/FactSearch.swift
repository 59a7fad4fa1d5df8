import CLibc
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

/// A text as FTS5 is asked for it.
///
/// A word that is in every other fact tells nothing and takes long: such words
/// are asked for when the text has no others.
struct FactQuery {
  private struct Term {
    let word: String
    let count: Int
    /// What it tells: the fewer facts have it, the more.
    let weight: Double

    /// Words hold letters, digits and symbols alone; the quotes make sure none is an operator.
    var match: String {
      "\"\(word.filter { $0 != "\"" })\"\(FactWords.isPrefix(word) ? "*" : "")"
    }
  }

  private let terms: [Term]
  private let asked: [Term]

  /// Matching facts of more than this are not all ranked.
  private static let budget = 6000

  init(_ text: String, _ db: Database) throws {
    let total = Double(
      try db.value(Int64.self, sql: "SELECT max(id) FROM memory_facts WHERE deleted_at IS NULL")
        ?? 0)
    terms = try FactWords.query(text).map { word in
      let count = try Self.count(word, db)
      let rest = max(total - Double(count), 0)
      return Term(
        word: word, count: count, weight: log(1 + (rest + 0.5) / (Double(count) + 0.5)))
    }
    var asked: [Term] = []
    var sum = 0
    for term in terms.sorted(by: { $0.count < $1.count }) where term.count > 0 {
      if !asked.isEmpty && sum + term.count > Self.budget { break }
      if !asked.isEmpty && total > 200 && Double(term.count) > total / 4 { break }
      sum += term.count
      asked.append(term)
    }
    self.asked = asked
  }

  /// The number of facts with a word, or with one that begins so; a bound for the
  /// latter, which a fact with several such words raises.
  private static func count(_ word: String, _ db: Database) throws -> Int {
    if FactWords.isPrefix(word) {
      let sum = try db.kept(
        sql: """
          SELECT ifnull(sum(doc), 0) FROM
            (SELECT doc FROM memory_terms WHERE term >= ?1 AND term <= ?2 LIMIT 300)
          """)
      return try sum.value(Int.self, [word, word + "\u{10ffff}"]) ?? 0
    }
    let count = try db.kept(sql: "SELECT doc FROM memory_terms WHERE term = ?")
    return try count.value(Int.self, [word]) ?? 0
  }

  /// By bm25, each with its rank, the greater the better.
  func candidates(guild: String, depth: Int, _ db: Database) throws -> [(
    fact: StoredFact, rank: Double
  )] {
    if asked.isEmpty { return [] }
    let sum = asked.reduce(0) { $0 + $1.count }
    var rows: [(fact: StoredFact, rank: Double)] = []
    if asked.count > 1 && sum > Self.budget / 4 {
      // Who has all the words is before the others anyway, and found at once.
      rows = try Self.rows(asked.map(\.match).joined(separator: " AND "), guild, depth, db)
    }
    if rows.count < depth {
      let known = Set(rows.map(\.fact.id))
      // bm25 is a sum over the words, so that both questions rank alike.
      rows += try Self.rows(
        asked.map(\.match).joined(separator: " OR "), guild, depth, isLong: sum > Self.budget, db
      ).filter { !known.contains($0.fact.id) }
    }
    return rows
  }

  private static func rows(
    _ match: String, _ guild: String, _ depth: Int, isLong: Bool = false, _ db: Database
  ) throws -> [(fact: StoredFact, rank: Double)] {
    // Of a word that everybody uses the latest facts are as good as any.
    let (rank, order) =
      isLong ? ("0.0", "w.rowid DESC") : ("-bm25(memory_words, 1.0, 0.4)", "rank DESC, w.rowid")
    return try db.rows(
      sql: """
        SELECT \(FactTable.columns), \(rank) AS rank
        FROM memory_words w CROSS JOIN memory_facts f ON f.id = w.rowid
        WHERE memory_words MATCH ? AND f.scope = 'guild' AND f.guild_id = ?
          AND f.deleted_at IS NULL
        ORDER BY \(order) LIMIT \(depth)
        """, arguments: [match, guild]
    ).map { (StoredFact(row: $0), $0[15]) }
  }

  /// How much of the text a fact has, 0 to 1: words that few facts have count
  /// more, and the beginning of a word less than the word.
  func coverage(of fact: StoredFact) -> Double {
    let words = fact.words
    let all = Set("\(words.fact) \(words.about)".split(separator: " "))
    var have = 0.0
    var sum = 0.0
    for term in terms {
      sum += term.weight
      if all.contains(Substring(term.word)) {
        have += term.weight
      } else if FactWords.isPrefix(term.word), all.contains(where: { $0.hasPrefix(term.word) }) {
        have += term.weight * 0.9
      }
    }
    return sum > 0 ? have / sum : 0
  }
}
