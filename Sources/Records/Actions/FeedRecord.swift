import Core

/// What one record of the feed is: bare or wrapped as `sse-tail` writes it.
public enum FeedRecord: Sendable {
  /// Actions, oldest first; more than one from a snapshot or a backfill, which
  /// may bring stats along. `faulty` counts elements that are no objects.
  case actions([Action], stats: ActionStats?, faulty: Int)
  /// The counters of the server.
  case stats(ActionStats)
  /// A record about the stream itself: `type` is `lost`, `resumed`, `gap`, ...
  case lifecycle(type: String, JSONValue)
  /// A record of the feed that holds no action: a voice state, another event.
  case other
  /// No object and no list of objects.
  case unreadable

  /// - Parameter record: one parsed line.
  public init(_ record: JSONValue) {
    if record.kind == .array {
      self = Self.list(record.elements, stats: nil)
      return
    }
    guard record.isObject else {
      self = .unreadable
      return
    }
    let type = record["type"]?.string
    if let type, Self.isOurs(record) {
      self = .lifecycle(type: type, record)
      return
    }
    let hasKind = record["kind"]?.string != nil
    if !hasKind, let data = record["data"], record["event"] != nil || Self.isFeed(data) {
      self = Self.payload(data, isAction: false)
    } else {
      self = Self.payload(record, isAction: type == nil)
    }
    if case .other = self, !hasKind, let type { self = .lifecycle(type: type, record) }
  }

  /// Whether this data is known without its event's name.
  private static func isFeed(_ data: JSONValue) -> Bool {
    data["kind"]?.string != nil || data["actions"]?.kind == .array
  }

  /// Whether this is a record that a command of the suite made, see
  /// `ActionRecord`: `type` comes first, and it is no action.
  private static func isOurs(_ record: JSONValue) -> Bool {
    record.members.first?.name == "type" && record["created_at"].map(\.isNull) != false
      && record["createdAt"].map(\.isNull) != false
  }

  /// - Parameter isAction: whether an object without any mark counts as one.
  private static func payload(_ value: JSONValue, isAction: Bool) -> FeedRecord {
    guard value.isObject else { return .other }
    if value["kind"]?.string != nil { return .actions([Action(value)], stats: nil, faulty: 0) }
    if let actions = value["actions"], actions.kind == .array {
      return list(actions.elements, stats: value["stats"].flatMap(ActionStats.init))
    }
    if let stats = ActionStats(value) { return .stats(stats) }
    if value["sessions"]?.kind == .array { return .other }
    return isAction ? .actions([Action(value)], stats: nil, faulty: 0) : .other
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
}
