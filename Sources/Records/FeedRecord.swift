public import Core

/// What one record of the feed says, its values parsed: bare or wrapped as
/// `sse-tail` writes it. Its shape is told by `RecordScan`.
public enum FeedRecord: Sendable {
  /// Actions, oldest first; more than one from a snapshot or a backfill, which
  /// may bring stats along. `faulty` counts elements that are not objects.
  case actions([Action], stats: ActionStats?, faulty: Int)
  /// The counters of the server.
  case stats(ActionStats)
  /// A record about the stream itself: `type` is `lost`, `resumed`, `gap`, ...
  case lifecycle(type: String, JSONValue)
  /// A record of the feed that holds no action: a voice state, another event.
  /// `fault` says in one line, lower case, what is wrong with an event whose data
  /// cannot be what its name says: a server that sends half an object, a proxy
  /// that writes into a stream.
  case other(fault: String?)
  /// No object and no list of objects.
  case unreadable

  /// - Parameters:
  ///   - record: one parsed line.
  ///   - line: its bytes.
  public init(_ record: JSONValue, line: UnsafeRawBufferPointer, _ scan: inout RecordScan) {
    if record.kind == .array {
      self = Self.list(record.elements, stats: nil)
      return
    }
    // What is JSON and an object has no fault for the scan.
    guard record.isObject, let shape = try? scan.read(line) else {
      self = .unreadable
      return
    }
    guard let object = scan.isWrapped ? record["data"] : record else {
      self = .unreadable
      return
    }
    switch shape {
    case .action, .unmarked: self = .actions([Action(object)], stats: nil, faulty: 0)
    case .list:
      let stats = object["stats"].flatMap(ActionStats.init)
      self = Self.list(object["actions"]?.elements ?? [], stats: stats)
    case .stats:
      self = ActionStats(object).map { .stats($0) } ?? .other(fault: nil)
    case .own: self = .lifecycle(type: record["type"]?.string ?? "", record)
    case .event: self = .other(fault: Self.fault(of: record))
    case .voiceState: self = .other(fault: nil)
    }
  }

  private static func list(_ rows: [JSONValue], stats: ActionStats?) -> FeedRecord {
    let actions = rows.filter(\.isObject).map { Action($0) }
    return .actions(oldestFirst(actions), stats: stats, faulty: rows.count - actions.count)
  }

  /// Servers send newest first, and rows of one millisecond in any order of
  /// their ids: sorted by time, then by id where all have one, else read
  /// backwards. A row whose time cannot be read follows its neighbour.
  private static func oldestFirst(_ actions: [Action]) -> [Action] {
    let ids = actions.map { $0.id.flatMap { Int64($0) } }
    let haveIDs = !ids.contains(nil)
    var last = Timestamp(seconds: .min)
    var entries: [(time: Timestamp, id: Int64, position: Int)] = []
    for position in actions.indices.reversed() {
      last = actions[position].createdAt.flatMap { Timestamp(rfc3339: $0) } ?? last
      entries.append((last, haveIDs ? ids[position] ?? 0 : 0, -position))
    }
    entries.sort { ($0.time, $0.id, $0.position) < ($1.time, $1.id, $1.position) }
    return entries.map { actions[-$0.position] }
  }

  private static func fault(of record: JSONValue) -> String? {
    guard let event = record["event"]?.string, let data = record["data"] else { return nil }
    let wanted: String
    switch event {
    case "action_event", "voice_event": wanted = "no action"
    case "activity_snapshot", "actions_backfill": wanted = "no list of actions"
    case "stats_update" where !data.isObject: wanted = "no stats"
    default: return nil
    }
    return "\(event): " + (data.isObject ? wanted : "the data is not a JSON object")
  }
}

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
