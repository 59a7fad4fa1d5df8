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

/// `GET /api/memory/reflections` (Agent/Clanky/CONTRACT.md 5.2), made of the actions of the runs.
enum Reflections {
  private static let kinds =
    "'memory_reflection_start', 'memory_reflection_complete', 'memory_reflection_error'"

  static func json(_ query: QueryParameters, _ db: Database) throws -> RecordText {
    let guild = query.word("guildId")
    let limit = query.integer("limit", default: 20, in: 1...100)
    // A run has two rows, or one while it goes on or when nobody gave it a name.
    let rows = try db.rows(
      sql: """
        \(ActionStore.columns) WHERE kind IN (\(kinds)) AND (?1 IS NULL OR guild_id = ?1)
        ORDER BY created_at DESC, id DESC LIMIT \(limit * 4)
        """, arguments: [guild])
    var runs: [String: ReflectionRun] = [:]
    while let row = try rows.next() {
      let stored = StoredAction(row: row)
      runs[name(stored.action) ?? "\0\(stored.id)", default: ReflectionRun()].add(stored)
    }
    let list = runs.values.sorted { ($0.time, $0.actions[0]) > ($1.time, $1.actions[0]) }
    return RecordText().stringOrNull("guildId", guild)
      .objects("runs", list.prefix(limit).map(\.json))
  }

  static func actions(of run: String, _ db: Database) throws -> [Int64] {
    let rows = try db.rows(
      sql: "\(ActionStore.columns) WHERE kind IN (\(kinds)) AND instr(metadata, 'runId')")
    return try rows.compactMap { row in
      let stored = StoredAction(row: row)
      return name(stored.action) == run ? stored.id : nil
    }
  }

  private static func name(_ action: LoggedAction) -> String? {
    action.facts { $0.text("runId") }
  }
}

/// One run in which the agent went over a day and chose what to remember
/// (Agent/Clanky/CONTRACT.md 5.2), put together from its actions.
struct ReflectionRun {
  private var start: StoredAction?
  private var end: StoredAction?
  private(set) var actions: [Int64] = []

  mutating func add(_ action: StoredAction) {
    actions.append(action.id)
    if action.action.kind == "memory_reflection_start" {
      start = start ?? action
    } else {
      end = end ?? action
    }
  }

  var time: String { (start ?? end)?.action.createdAt ?? "" }

  var json: RecordText {
    guard let first = start ?? end, let last = end ?? start else { return RecordText() }
    return first.action.facts { first in last.action.facts { last in json(first, last) } }
  }

  private func json(_ first: ScanObject, _ last: ScanObject) -> RecordText {
    func text(_ name: String) -> String? { last.text(name) ?? first.text(name) }
    func number(_ name: String) -> Double? {
      for object in [last, first] where !object[name].isNull {
        if let number = object.number(name) { return number }
      }
      return nil
    }
    func list(_ name: String) -> String {
      last[name].isArray ? last.json(name) : first[name].isArray ? first.json(name) : "[]"
    }
    let row = (start ?? end)?.action
    // Whatever the actions tell of it.
    let duration = Timestamp.milliseconds(
      from: start?.action.createdAt, to: end?.action.createdAt)
    let failed = end?.action.kind == "memory_reflection_error"
    let ended = end?.action.createdAt
    let content = end?.action.content
    var run = RecordText().texts("runId", "dateKey", of: text)
      .stringOrNull("guildId", text("guildId") ?? row?.guild)
      .stringOrNull("channelId", row?.channel)
      .string("status", end == nil ? "running" : failed ? "error" : "completed")
      .stringOrNull("startedAt", start?.action.createdAt)
      .stringOrNull("completedAt", failed ? nil : ended)
      .stringOrNull("erroredAt", failed ? ended : nil)
      .json("durationMs", duration.map { "\($0)" } ?? "null")
      .texts(
        "strategy", "provider", "model", "extractorProvider", "extractorModel",
        "adjudicatorProvider", "adjudicatorModel", of: text
      ).json("usdCost", JSONText.number((start?.action.usd ?? 0) + (end?.action.usd ?? 0)))
    for name in ["maxFacts", "journalEntryCount", "authorCount"] {
      run = run.json(name, number(name).map(JSONText.number) ?? "null")
    }
    for name in ["factsExtracted", "factsSelected", "factsAdded", "factsSaved", "factsSkipped"] {
      run = run.json(name, JSONText.number(number(name) ?? 0))
    }
    for name in ["extractedFacts", "selectedFacts", "savedFacts", "skippedFacts"] {
      run = run.json(name, list(name))
    }
    return run.stringOrNull("rawResponseText", text("rawResponseText"))
      .json("usage", last["usage"].isNull ? first.json("usage") : last.json("usage"))
      .json("reflectionPasses", list("reflectionPasses"))
      .stringOrNull("startContent", start?.action.content)
      .stringOrNull("completionContent", failed ? nil : content)
      .stringOrNull("errorContent", failed ? content : nil)
  }
}
