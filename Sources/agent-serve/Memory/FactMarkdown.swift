import Core
import GRDB

/// The memory as text: `GET /api/memory`, in the dashboard's form (Agent/Clanky/CONTRACT.md 5.2).
struct FactMarkdown: Sendable {
  /// The guild's id, nil for everything.
  let guild: String?

  /// So many facts of a part are told, the latest ones.
  private static let limit = 200

  /// `{"guildId":...,"markdown":...}`.
  ///
  /// - Parameter isRefresh: whether the answer is that of `POST .../refresh`.
  func json(isRefresh: Bool, _ db: Database) throws -> String {
    """
    {\(isRefresh ? "\"ok\":true," : "")"guildId":\(JSONText.quoted(guild)),\
    "markdown":\(JSONText.quoted(try text(db)))}
    """
  }

  private func text(_ db: Database) throws -> String {
    let summary = guild.map { "Operator-facing summary for guild `\(Self.line($0))`." }
    var parts = [
      "# Durable Memory Snapshot",
      """
      _\(summary ?? "Operator-facing summary.") Runtime prompts use indexed durable facts + \
      retrieval, not this markdown file directly._
      """,
      Self.part("People (Durable Facts)", try people(db), "(No stable people facts yet.)"),
      Self.part(
        "Bot Self Memory", try lines("f.subject = '__self__'", db),
        "(No durable self-memory lines yet.)"),
    ]
    if guild == nil {
      let owner = try lines("f.scope = 'owner'", db)
      if !owner.isEmpty { parts.append(Self.part("Owner Private", owner, "")) }
    }
    parts += [
      Self.part("Ongoing Lore", try lore(db), "(No durable lore lines yet.)"),
      Self.part("Recent Journal Highlights", [], "(No recent highlights yet.)"),
      Self.part(
        "Source Data",
        [
          """
          Durable facts, conversation messages, vectors, and reflection runs live in SQLite. \
          Markdown is a generated operator snapshot only.
          """
        ], ""),
    ]
    return parts.joined(separator: "\n\n")
  }

  private static func part(_ title: String, _ lines: [String], _ empty: String) -> String {
    let lines = lines.isEmpty ? [empty] : lines
    return "## \(title)\n" + lines.map { "- \($0)" }.joined(separator: "\n")
  }

  private func facts(_ condition: String, _ db: Database) throws -> [StoredFact] {
    let scope = guild == nil ? "?1 IS NULL" : "f.scope NOT IN ('user', 'owner') AND f.guild_id = ?1"
    return try Row.fetchAll(
      db,
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f
        WHERE f.deleted_at IS NULL AND \(scope) AND \(condition)
        ORDER BY f.updated_at DESC, f.id LIMIT \(Self.limit)
        """, arguments: [guild]
    ).map(StoredFact.init(row:))
  }

  private func lines(_ condition: String, _ db: Database) throws -> [String] {
    try facts(condition, db).map { Self.line($0.text) }
  }

  private func lore(_ db: Database) throws -> [String] {
    try facts("f.subject = '__lore__'", db).map { fact in
      guild == nil ? "[guild:\(fact.guild ?? "")] \(Self.line(fact.text))" : Self.line(fact.text)
    }
  }

  /// One line a subject, the one with the latest fact first.
  private func people(_ db: Database) throws -> [String] {
    var order: [String] = []
    var facts: [String: [String]] = [:]
    let names = "('__self__', '__lore__', '__owner__')"
    for fact in try self.facts("f.subject NOT IN \(names) AND f.scope <> 'owner'", db) {
      let subject = Self.line(fact.subject)
      let name = guild == nil ? "[\(fact.scope)] \(subject)" : subject
      if facts[name] == nil { order.append(name) }
      let type = fact.type.prefix(1).uppercased() + fact.type.dropFirst()
      facts[name, default: []].append("\(Self.line(type)): \(Self.line(fact.text))")
    }
    return order.map { name in "\(name): \((facts[name] ?? []).joined(separator: " | "))" }
  }

  /// Facts hold no line ends; whatever else could end a line becomes a blank.
  private static func line(_ text: String) -> String {
    text.contains(where: \.isNewline) ? String(text.map { $0.isNewline ? " " : $0 }) : text
  }
}
