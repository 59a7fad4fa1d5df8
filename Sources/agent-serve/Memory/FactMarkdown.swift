import Core
import GRDB

/// The memory as text: `GET /api/memory`. No client reads it but a person, so it is
/// not the dashboard's text: a heading for each subject, and its facts.
struct FactMarkdown: Sendable {
  /// The guild's id, nil for everything.
  let guild: String?

  /// So many facts are told, the latest ones.
  private static let limit = 500

  /// `{"guildId":...,"markdown":...}` (Agent/Clanky/CONTRACT.md 9.5).
  ///
  /// - Parameter isRefresh: whether the answer is that of `POST .../refresh`.
  func json(isRefresh: Bool, _ db: Database) throws -> String {
    """
    {\(isRefresh ? "\"ok\":true," : "")"guildId":\(JSONText.quoted(guild)),\
    "markdown":\(JSONText.quoted(try text(db)))}
    """
  }

  private func text(_ db: Database) throws -> String {
    let scope = guild == nil ? "?1 IS NULL" : "f.scope NOT IN ('user', 'owner') AND f.guild_id = ?1"
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT \(FactTable.columns) FROM memory_facts f WHERE f.deleted_at IS NULL AND \(scope)
        ORDER BY f.updated_at DESC, f.id LIMIT \(Self.limit)
        """, arguments: [guild])
    var subjects: [String] = []
    var facts: [String: [String]] = [:]
    for fact in rows.map(StoredFact.init(row:)) {
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
