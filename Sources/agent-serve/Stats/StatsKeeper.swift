import Core

final class StatsKeeper: Sendable {
  private struct State {
    var book: StatsBook
    var version = 0
    var cached: (version: Int, documents: Int, at: Timestamp, json: String)?
  }

  private let state: Guarded<State>
  private let documents: Documents

  init(_ book: StatsBook, documents: Documents) {
    state = Guarded(State(book: book))
    self.documents = documents
  }

  var version: Int { state.withLock { $0.version } }

  func add(_ actions: [LoggedAction]) {
    state.withLock { state in
      for action in actions { state.book.add(action) }
      state.version += 1
    }
  }

  func subtract(_ loss: StatsBook.Loss) {
    state.withLock { state in
      state.book.subtract(loss)
      state.version += 1
    }
  }

  /// Made anew after an action or a document, and each second, since the windows move.
  func json(now: Timestamp) -> String {
    state.withLock { state in
      let told = documents.version
      if let cached = state.cached, cached.version == state.version, cached.documents == told,
        cached.at.seconds == now.seconds
      {
        return cached.json
      }
      state.book.prune(since: now.before(hours: 24).rfc3339)
      let json = state.book.json(runtime: state.book.runtime(documents), now: now)
      state.cached = (state.version, told, now, json)
      return json
    }
  }

  func costs(of guild: String) -> Costs { state.withLock { $0.book.guilds[guild] ?? Costs() } }

  func json(guild: StatsBook, now: Timestamp) -> String {
    guild.json(runtime: state.withLock { $0.book.runtime(documents) }, now: now)
  }
}

extension StatsBook {
  /// Counts what the store holds: when the server starts, or for one guild.
  static func load(
    _ db: Database, guild: (id: String, costs: Costs)?, now: Timestamp
  ) throws -> StatsBook {
    var book = StatsBook(guild?.costs ?? Costs())
    let since = now.before(hours: 24).rfc3339
    let filter = guild == nil ? "?1 IS NULL" : "guild_id = ?1"
    if guild == nil {
      let costs = try db.rows(sql: "SELECT created_at, usd_cost, guild_id FROM actions")
      while let row = try costs.next() {
        let cost: String? = row[1]
        let usd = cost.flatMap { Double($0) } ?? 0
        book.addCost(createdAt: row[0], usd: usd.isFinite ? usd : 0, guild: row[2])
      }
    }
    let guild = guild?.id
    let times = try db.rows(
      sql: "SELECT kind, created_at FROM actions WHERE \(filter) AND created_at >= ?2",
      arguments: [guild, since])
    while let row = try times.next() { book.addTime(kind: row[0], createdAt: row[1]) }
    let replies = ReplyPerformance.kinds.map { "'\($0)'" }.joined(separator: ",")
    let samples = try db.rows(
      sql: """
        SELECT created_at, kind, metadata FROM
          (SELECT id, created_at, kind, metadata FROM actions
           WHERE \(filter) AND created_at >= ?2 AND kind IN (\(replies))
           ORDER BY id DESC LIMIT \(sampleLimit))
        ORDER BY id
        """, arguments: [guild, since])
    while let row = try samples.next() {
      book.addSample(
        Sample(
          createdAt: row[0], kind: row[1], performance: ReplyPerformance(metadata: row[2])))
    }
    let newest = try db.value(
      String.self,
      sql: """
        SELECT max(created_at) FROM actions
        WHERE \(filter) AND kind IN ('sent_reply', 'sent_message', 'initiative_post')
        """, arguments: [guild])
    if let newest { book.noteBotMessage(at: newest) }
    return book
  }
}
