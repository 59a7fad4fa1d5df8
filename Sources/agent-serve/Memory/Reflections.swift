import Core
import GRDB

/// `GET /api/memory/reflections` (Agent/Clanky/CONTRACT.md 5.2), made of the actions of the runs.
struct Reflections: Sendable {
  /// The guild's id, nil for all.
  let guild: String?
  /// 1 to 100.
  let limit: Int

  /// - Parameter query: the request's parameters.
  init(_ query: QueryParameters) {
    guild = query.word("guildId")
    limit = query.integer("limit", default: 20, in: 1...100)
  }

  private static let kinds =
    "'memory_reflection_start', 'memory_reflection_complete', 'memory_reflection_error'"

  /// The answer's body; the run that began last comes first.
  func json(_ db: Database) throws -> String {
    // A run has two rows, or one while it goes on or when nobody gave it a name.
    let rows = try Row.fetchCursor(
      db,
      sql: """
        \(ActionStore.columns) WHERE kind IN (\(Self.kinds)) AND (?1 IS NULL OR guild_id = ?1)
        ORDER BY created_at DESC, id DESC LIMIT \(limit * 4)
        """, arguments: [guild])
    var runs: [String: ReflectionRun] = [:]
    while let row = try rows.next() {
      let stored = StoredAction(row: row)
      runs[Self.name(stored.action) ?? "\0\(stored.id)", default: ReflectionRun()].add(stored)
    }
    let list = runs.values.sorted { ($0.time, $0.actions[0]) > ($1.time, $1.actions[0]) }
    return """
      {"guildId":\(JSONText.quoted(guild)),\
      "runs":[\(list.prefix(limit).map(\.json).joined(separator: ","))]}
      """
  }

  /// The actions of a run.
  static func actions(of run: String, _ db: Database) throws -> [Int64] {
    let rows = try Row.fetchCursor(
      db, sql: "\(ActionStore.columns) WHERE kind IN (\(kinds)) AND instr(metadata, 'runId')")
    var ids: [Int64] = []
    while let row = try rows.next() {
      let stored = StoredAction(row: row)
      if name(stored.action) == run { ids.append(stored.id) }
    }
    return ids
  }

  /// The run that an action belongs to.
  private static func name(_ action: LoggedAction) -> String? {
    guard var metadata = action.metadata else { return nil }
    return metadata.withUTF8 { ScanObject(UnsafeRawBufferPointer($0))?.text("runId") }
  }
}
