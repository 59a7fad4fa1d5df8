/// What a `StatsBook` no longer counts of actions that were deleted: to count all the others anew
/// would take seconds in a large store, in which nobody could write.
struct StatsLoss: Sendable {
  private(set) var costs: [(createdAt: String, usd: Double, guild: String?)] = []
  private(set) var lastActionAt: String?

  init(deleting ids: [Int64], _ db: Database) throws {
    for id in ids {
      let row = try db.rows(sql: "\(ActionStore.columns) WHERE id = ?", arguments: [id]).next()
      guard let action = row.map(StoredAction.init(row:))?.action else { continue }
      try db.execute(sql: "DELETE FROM actions WHERE id = ?", arguments: [id])
      costs.append((action.createdAt, action.usd, action.guild))
    }
    lastActionAt = try db.value(String.self, sql: "SELECT max(created_at) FROM actions")
  }
}
