import Core
import Records

/// `GET /api/memory/facts` and `/subjects` (Agent/Clanky/CONTRACT.md 5.2).
struct FactLists: Sendable {
  /// Whose; nil answers nothing.
  let guild: String?
  let subject: String?
  /// A text that must be in a fact, in any case; empty for all.
  let text: String
  /// 1 to 500.
  let limit: Int

  init(_ query: QueryParameters, limit: Int) {
    guild = query.word("guildId")
    subject = query.word("subject")
    text = (query["q"] ?? "").trimmingBlanks()
    self.limit = query.integer("limit", default: limit, in: 1...500)
  }

  /// What a guild may see: its own facts and those of persons.
  private static let visible = """
    f.deleted_at IS NULL AND (f.guild_id = ?1 OR f.scope IN ('user', 'owner'))
    """

  private static let holding = """
    (?3 = '' OR instr(lower(f.fact), ?3) OR instr(lower(f.subject), ?3)
      OR instr(lower(f.fact_type), ?3) OR instr(lower(f.evidence_text), ?3)
      OR instr(lower(f.source_message_id), ?3) OR instr(lower(f.channel_id), ?3))
    """

  func facts(_ db: Database) throws -> RecordText {
    guard let guild else {
      return RecordText().string("guildId", "").objects("facts", []).number("limit", limit)
        .string("queryText", text)
    }
    // A subject's own index, which only an exact condition makes use of.
    let condition = subject == nil ? "?2 IS NULL" : "f.subject = ?2"
    let wanted = text.lowercased()
    // SQLite folds the letters of ASCII alone, but ten times as fast.
    let isFolded = wanted.utf8.allSatisfy { $0 < 128 }
    let rows = try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE \(Self.visible) AND \(condition) AND \(isFolded ? Self.holding : "?3 IS NOT NULL")
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

  func subjects(_ db: Database) throws -> RecordText {
    guard let guild else {
      return RecordText().string("guildId", "").objects("subjects", []).number("limit", limit)
    }
    let rows = try db.rows(
      sql: """
        SELECT f.scope, f.guild_id, f.user_id, f.subject, max(f.updated_at) AS seen, count(*)
        FROM memory_facts f WHERE \(Self.visible)
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

/// The memory as text: `GET /api/memory`. No client reads it but a person, so it is
/// not the dashboard's text: a heading for each subject, and its facts.
struct FactMarkdown: Sendable {
  let guild: String?

  private static let limit = 500

  /// `{"guildId":...,"markdown":...}` (Agent/Clanky/CONTRACT.md 9.5).
  func json(isRefresh: Bool, _ db: Database) throws -> RecordText {
    RecordText().bool("ok", isRefresh ? true : nil).stringOrNull("guildId", guild)
      .string("markdown", try text(db))
  }

  private func text(_ db: Database) throws -> String {
    let scope = guild == nil ? "?1 IS NULL" : "f.scope NOT IN ('user', 'owner') AND f.guild_id = ?1"
    let rows = try db.rows(
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f WHERE f.deleted_at IS NULL AND \(scope)
        ORDER BY f.updated_at DESC, f.id LIMIT \(Self.limit)
        """, arguments: [guild])
    var subjects: [String] = []
    var facts: [String: [String]] = [:]
    for fact in try rows.map(StoredFact.init(row:)) {
      let subject = Self.line(fact.subject)
      if facts[subject] == nil { subjects.append(subject) }
      facts[subject, default: []].append("- \(Self.line(fact.text))\n")
    }
    let parts = subjects.map { "\n## \($0)\n\n\(facts[$0, default: []].joined())" }
    return "# Memory\n" + parts.joined()
  }

  /// Facts hold no line ends; whatever else could end a line becomes a blank.
  private static func line(_ text: String) -> String {
    text.contains(where: \.isNewline) ? String(text.map { $0.isNewline ? " " : $0 }) : text
  }
}
