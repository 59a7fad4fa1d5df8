import Core
import Records

/// `GET /api/memory/facts`, `/subjects` and `/api/memory` (Agent/Clanky/CONTRACT.md 5.2).
enum FactLists {
  /// What a guild may see: its own facts and those of persons.
  private static let visible = """
    f.deleted_at IS NULL AND (f.guild_id = ?1 OR f.scope IN ('user', 'owner'))
    """

  private static let holding = """
    (?3 = '' OR instr(lower(f.fact), ?3) OR instr(lower(f.subject), ?3)
      OR instr(lower(f.fact_type), ?3) OR instr(lower(f.evidence_text), ?3)
      OR instr(lower(f.source_message_id), ?3) OR instr(lower(f.channel_id), ?3))
    """

  static func facts(_ query: QueryParameters, _ db: Database) throws -> RecordText {
    let text = (query["q"] ?? "").trimmingBlanks()
    let limit = query.integer("limit", default: 120, in: 1...500)
    guard let guild = query.word("guildId") else {
      return RecordText().string("guildId", "").objects("facts", []).number("limit", limit)
        .string("queryText", text)
    }
    let subject = query.word("subject")
    // A subject's own index, which only an exact condition makes use of.
    let condition = subject == nil ? "?2 IS NULL" : "f.subject = ?2"
    let wanted = text.lowercased()
    // SQLite folds the letters of ASCII alone, but ten times as fast.
    let isFolded = wanted.utf8.allSatisfy { $0 < 128 }
    let rows = try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE \(visible) AND \(condition) AND \(isFolded ? holding : "?3 IS NOT NULL")
        ORDER BY f.updated_at DESC, f.id
        """, arguments: [guild, subject, wanted])
    var list: [RecordText] = []
    while list.count < limit, let row = try rows.next() {
      let fact = StoredFact(row: row)
      if isFolded || fact.contains(wanted) { list.append(fact.editable) }
    }
    return RecordText().string("guildId", guild).number("limit", limit)
      .stringOrNull("subject", subject).string("queryText", text).objects("facts", list)
  }

  static func subjects(_ query: QueryParameters, _ db: Database) throws -> RecordText {
    let limit = query.integer("limit", default: 200, in: 1...500)
    guard let guild = query.word("guildId") else {
      return RecordText().string("guildId", "").objects("subjects", []).number("limit", limit)
    }
    let rows = try db.rows(
      sql: """
        SELECT f.scope, f.guild_id, f.user_id, f.subject, max(f.updated_at) AS seen, count(*)
        FROM memory_facts f WHERE \(visible)
        GROUP BY f.scope, f.guild_id, f.user_id, f.subject
        ORDER BY seen DESC, f.subject LIMIT \(limit)
        """, arguments: [guild])
    let list = try rows.map { row in
      RecordText().string("scope", row[0]).stringOrNull("guild_id", row[1])
        .stringOrNull("user_id", row[2]).string("subject", row[3]).string("last_seen_at", row[4])
        .number("fact_count", row[5] as Int)
    }
    return RecordText().string("guildId", guild).number("limit", limit).objects("subjects", list)
  }

  /// The memory as text: `GET /api/memory`, `{"guildId":...,"markdown":...}`
  /// (Agent/Clanky/CONTRACT.md 9.5). No client reads it but a person, so it is not the dashboard's
  /// text: a heading for each subject, and its facts.
  static func markdown(_ guild: String?, isRefresh: Bool, _ db: Database) throws -> RecordText {
    let scope = guild == nil ? "?1 IS NULL" : "f.scope NOT IN ('user', 'owner') AND f.guild_id = ?1"
    let rows = try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f WHERE f.deleted_at IS NULL AND \(scope)
        ORDER BY f.updated_at DESC, f.id LIMIT 500
        """, arguments: [guild])
    var subjects: [String] = []
    var facts: [String: [String]] = [:]
    for fact in try rows.map(StoredFact.init(row:)) {
      let subject = line(fact.subject)
      if facts[subject] == nil { subjects.append(subject) }
      facts[subject, default: []].append("- \(line(fact.text))\n")
    }
    let parts = subjects.map { "\n## \($0)\n\n\(facts[$0, default: []].joined())" }
    return RecordText().bool("ok", isRefresh ? true : nil).stringOrNull("guildId", guild)
      .string("markdown", "# Memory\n" + parts.joined())
  }

  /// Facts hold no line ends; whatever else could end a line becomes a blank.
  private static func line(_ text: String) -> String {
    text.contains(where: \.isNewline) ? String(text.map { $0.isNewline ? " " : $0 }) : text
  }
}

extension StoredFact {
  /// Whether a text is somewhere in it.
  fileprivate func contains(_ text: String) -> Bool {
    // The same letters, however they are composed.
    let text = Compatibility.composed(text)
    return [subject, self.text, type, evidence ?? "", sourceMessage ?? "", channel ?? ""]
      .contains { Compatibility.composed($0.lowercased()).holds(text) }
  }
}
