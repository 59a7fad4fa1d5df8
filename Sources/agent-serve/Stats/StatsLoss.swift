/// What a `StatsBook` no longer counts of actions that were deleted: to count all the others anew
/// would take seconds in a large store, in which nobody could write.
struct StatsLoss: Sendable {
  /// What they cost, and on which day.
  private(set) var costs: [(day: String, usd: Double)] = []
  /// The days of which no action is left.
  private(set) var days: Set<String> = []
  /// The guilds of which none is left.
  private(set) var guilds: Set<String> = []
  /// The time of the newest one that is left.
  private(set) var lastActionAt: String?

  /// Deletes actions.
  ///
  /// - Parameters:
  ///   - ids: the actions, of kinds that are not counted by their kind.
  ///   - db: where a transaction is under way.
  /// - Throws: what SQLite says.
  init(deleting ids: [Int64], _ db: Database) throws {
    for id in ids {
      let row = try db.rows(sql: "\(ActionStore.columns) WHERE id = ?", arguments: [id]).next()
      guard let action = row.map(StoredAction.init(row:))?.action else { continue }
      try db.execute(sql: "DELETE FROM actions WHERE id = ?", arguments: [id])
      let day = StatsBook.day(action.createdAt)
      costs.append((day, action.usd))
      days.insert(day)
      if let guild = action.guild { guilds.insert(guild) }
    }
    days = try days.filter { day in
      let next = try db.value(
        String.self,
        sql: "SELECT created_at FROM actions WHERE created_at >= ? ORDER BY created_at LIMIT 1",
        arguments: [day])
      return next.map(StatsBook.day) != day
    }
    guilds = try guilds.filter { guild in
      try db.value(
        Int64.self, sql: "SELECT 1 FROM actions WHERE guild_id = ? LIMIT 1", arguments: [guild])
        == nil
    }
    lastActionAt = try db.value(String.self, sql: "SELECT max(created_at) FROM actions")
  }
}
