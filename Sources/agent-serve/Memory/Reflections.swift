import Core
import Records

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
