import Core
import Records

/// A turn with all that belongs to it; or one thing that belongs to no turn.
struct Story {
  struct Part {
    var record: ConversationRecord
    let order: Int
    let since: Timestamp?
  }

  let key: PartKey
  private(set) var parts: [PartKey: Part] = [:]
  private var count = 0
  private var first = 0
  /// The newest time of any of its records, and the time that the first of its parts began.
  private(set) var latest: Timestamp?
  private var earliest: Timestamp?

  init(_ key: PartKey) { self.key = key }

  /// Takes a record, in the place of the one before about the same.
  mutating func add(_ record: ConversationRecord, as key: PartKey) {
    if let time = record.record.time { latest = max(latest ?? time, time) }
    if let known = parts[key] {
      guard known.record.mayBecome(record) else { return }
      parts[key]?.record = record
    } else {
      let since = record.began
      if let since { earliest = min(earliest ?? since, since) }
      parts[key] = Part(record: record, order: count, since: since)
      count += 1
    }
  }

  /// Takes all of another story, as what came after its own. The smaller one is moved into
  /// the larger: a chain may be told from its end.
  mutating func merge(_ other: inout Story) {
    if let time = other.latest { latest = max(latest ?? time, time) }
    if let time = other.earliest { earliest = min(earliest ?? time, time) }
    if parts.count < other.parts.count {
      swap(&parts, &other.parts)
      let shift = other.first - count
      for (key, part) in other.parts where parts[key] == nil {
        parts[key] = Part(record: part.record, order: part.order + shift, since: part.since)
      }
      (first, count) = (first + shift, other.count)
      return
    }
    let shift = count - other.first
    for (key, part) in other.parts {
      parts[key] = Part(record: part.record, order: part.order + shift, since: part.since)
    }
    count = other.count + shift
  }

  /// The turn's own record; nil where nothing was heard of it, or it is no turn.
  var turn: TurnRecord? {
    guard case .turn(let turn)? = parts[key]?.record else { return nil }
    return turn
  }

  var isEnded: Bool { parts[key]?.record.isEnded ?? false }

  var started: Timestamp? { turn?.started ?? earliest }

  var ended: Timestamp? {
    guard isEnded else { return nil }
    return turn.map { $0.ended ?? $0.time } ?? latest
  }

  var thread: String? { (parts[key] ?? parts.values.first)?.record.thread }
}

extension ConversationRecord {
  fileprivate var began: Timestamp? {
    switch self {
    case .turn(let turn): turn.started ?? turn.time
    case .toolCall(let call): call.started ?? call.time
    default: record.time
    }
  }
}
