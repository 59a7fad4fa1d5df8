import CLibc

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
