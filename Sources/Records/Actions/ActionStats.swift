import Core

/// The counters of the server, as `stats_update` and `GET /api/stats` send them.
/// What a server leaves out is nil or empty.
public struct ActionStats: Sendable, Equatable {
  /// How often each kind happened in the last 24 hours, in the server's order.
  public let counts: [Count]
  /// US dollars over everything that the server keeps.
  public let totalCost: Double?
  /// US dollars a day of UTC, newest first; days without cost are left out.
  public let dailyCosts: [Day]
  /// Whether the agent is connected to Discord.
  public let isReady: Bool?
  /// Voice sessions that are open now.
  public let voiceSessions: Int?
  /// Replies that wait to be written.
  public let pendingReplies: Int?
  /// Half of the replies of the window took no longer, milliseconds.
  public let medianReply: Double?

  /// A kind and how often.
  public struct Count: Sendable, Equatable {
    /// The kind of the actions.
    public let kind: String
    /// How many.
    public let count: Int64
  }

  /// A day's cost.
  public struct Day: Sendable, Equatable {
    /// `YYYY-MM-DD`, UTC.
    public let day: String
    /// US dollars.
    public let cost: Double
  }

  /// - Parameter payload: `{"stats":{...},"runtime":{...}}`; nil when it is
  ///   something else.
  public init?(_ payload: JSONValue) {
    guard let stats = payload["stats"], stats.isObject else { return nil }
    let day = stats["last24h"]
    let cost = stats["totalCostUsd"]?.number
    guard day?.isObject == true || cost != nil || stats["dailyCost"] != nil else { return nil }
    counts = (day?.members ?? []).compactMap { member in
      member.value.integer.map { Count(kind: member.name, count: $0) }
    }
    totalCost = cost
    dailyCosts = (stats["dailyCost"]?.elements ?? []).compactMap { entry in
      guard let day = entry["day"]?.string, let cost = entry["usd"]?.number else { return nil }
      return Day(day: day, cost: cost)
    }
    let runtime = payload["runtime"]
    isReady = runtime?["isReady"]?.bool
    voiceSessions = runtime?["voice"]?["activeCount"]?.integer.flatMap { Int(exactly: $0) }
    pendingReplies = runtime?["replyQueue"]?["pending"]?.integer.flatMap { Int(exactly: $0) }
    medianReply = stats["performance"]?["totalMs"]?["p50Ms"]?.number
  }

  /// How often a kind happened in the last 24 hours; nil when not counted.
  public func count(of kind: String) -> Int64? { counts.first { $0.kind == kind }?.count }

  /// The cost of a day of UTC, `YYYY-MM-DD`; 0 when the server lists no such
  /// day, nil when it lists none at all and no total.
  public func cost(of day: String) -> Double? {
    if let entry = dailyCosts.first(where: { $0.day == day }) { return entry.cost }
    return dailyCosts.isEmpty && totalCost == nil ? nil : 0
  }
}
