import Core

/// What the lines of an outbox mean together: what still waits, one item a record and one a
/// prompt, and what a person has yet to see (Agent/Outbox/CONTRACT.md 2).
public struct OutboxFold: Sendable {
  private struct Waiting {
    var entries: [OutboxEntry] = []
    /// What the first of them was made from, where an answer to those before them tells.
    var base: (swap: RecordSwap, was: [UInt8]?)?
    var sent: [OutboxItem.Sent] = []
  }

  private var records: [RecordPlace: Waiting] = [:]
  private var prompts: [(entry: OutboxEntry, sent: [OutboxItem.Sent])] = []
  /// The record that each entry is about, answered or not; nil for a prompt.
  private var places: [TID: RecordPlace?] = [:]
  private var order: [TID: Int] = [:]
  private var news: [OutboxItem] = []

  /// Of no lines.
  public init() {}

  /// What waits, the longest first.
  public var open: [OutboxItem] {
    let items =
      records.compactMap { $0.value.entries.isEmpty ? nil : Self.item($0.key, $0.value) }
      + prompts.map { Self.item($0.entry, $0.sent) }
    return items.sorted { order[$0.ids[0], default: 0] < order[$1.ids[0], default: 0] }
  }

  /// What ended otherwise than it was meant, and nobody dropped since; the oldest first.
  public var closed: [OutboxItem] { news }

  /// Whether nothing waits.
  public var isIdle: Bool { prompts.isEmpty && records.allSatisfy { $0.value.entries.isEmpty } }

  /// What waits for one record.
  public func item(of place: RecordPlace) -> OutboxItem? {
    guard let waiting = records[place], !waiting.entries.isEmpty else { return nil }
    return Self.item(place, waiting)
  }

  func knows(_ id: TID) -> Bool { order[id] != nil }

  /// Whether a line about some entries still means something, of as many lines as one likes.
  var needs: ([TID]) -> Bool {
    let known = Set(news.flatMap(\.ids)).union(prompts.map(\.entry.id))
    return { ids in
      ids.contains { id in
        if known.contains(id) { return true }
        guard let place = places[id] ?? nil else { return false }
        // What was answered tells later changes of the record what they were made from.
        return records[place]?.entries.isEmpty == false
      }
    }
  }

  /// False for an entry whose id was there before.
  mutating func receive(_ line: OutboxLine) -> Bool {
    switch line {
    case .entry(let entry):
      if knows(entry.id) { return false }
      order[entry.id] = order.count
      places[entry.id] = .some(entry.change.place)
      if let place = entry.change.place {
        records[place, default: Waiting()].entries.append(entry)
      } else {
        prompts.append((entry, []))
      }
    case .sending(let attempt, let ids): receive(attempt, ids)
    case .ack(let ack, let ids, let time): receive(ack, ids, time)
    case .other: break
    }
    return true
  }

  private mutating func receive(_ attempt: OutboxAttempt, _ ids: [TID]) {
    guard let last = ids.last, let place = places[last] else { return }
    guard let place else {
      guard let index = prompts.firstIndex(where: { $0.entry.id == last }) else { return }
      prompts[index].sent.append(.init(cid: nil, record: nil, conflicts: []))
      return
    }
    guard var waiting = records[place] else { return }
    waiting.entries.removeAll { !ids.contains($0.id) }
    guard !waiting.entries.isEmpty else { return }
    let item = Self.item(place, waiting)
    guard case .put(let draft) = item.action else {
      // From here on it is a deletion of that, and of nothing that comes behind it.
      if let cid = attempt.cid, item.base == .any { records[place]?.base = (.cid(cid), nil) }
      records[place]?.sent.append(.init(cid: nil, record: nil, conflicts: []))
      return
    }
    records[place]?.sent.append(
      .init(cid: attempt.cid, record: draft.bytes, conflicts: attempt.conflicts))
  }

  private mutating func receive(_ ack: OutboxAck, _ ids: [TID], _ time: Timestamp) {
    let ids = Set(ids)
    if ack.state == .dropped { news.removeAll { !ids.isDisjoint(with: $0.ids) } }
    for (place, waiting) in affected(by: ids) {
      var (answered, rest) = (waiting, waiting)
      answered.entries.removeAll { !ids.contains($0.id) }
      rest.entries.removeAll { ids.contains($0.id) }
      var item = Self.item(place, answered)
      item.answer = (ack, time)
      if ack.isNews { news.append(item) }
      rest.base = Self.base(behind: item, ack.state)
      if ack.state == .done || ack.state == .merged { rest.sent = [] }
      records[place] = rest.entries.isEmpty ? nil : rest
    }
    for id in ids where places[id] == .some(nil) {
      // It is one of the first as a rule.
      guard let index = prompts.firstIndex(where: { $0.entry.id == id }) else { continue }
      let (entry, sent) = prompts.remove(at: index)
      var item = Self.item(entry, sent)
      item.answer = (ack, time)
      if ack.isNews { news.append(item) }
    }
  }

  private func affected(by ids: Set<TID>) -> [(RecordPlace, Waiting)] {
    Set(ids.compactMap { places[$0] ?? nil }).compactMap { place in
      guard let waiting = records[place], waiting.entries.contains(where: { ids.contains($0.id) })
      else { return nil }
      return (place, waiting)
    }
  }

  /// Not what a merge made of the item, which who made the later changes had not seen.
  private static func base(
    behind item: OutboxItem, _ state: OutboxState
  ) -> (RecordSwap, [UInt8]?) {
    switch item.action {
    case .put(let draft) where state == .done || state == .merged: (.cid(draft.cid), draft.bytes)
    case .delete where state == .done: (.absent, nil)
    default: (item.base, item.was)
    }
  }

  private static func item(_ place: RecordPlace, _ waiting: Waiting) -> OutboxItem {
    let first = OutboxItem(waiting.entries[0])
    var (base, was) = waiting.base ?? (first.base, first.was)
    var action = OutboxItem(waiting.entries[waiting.entries.count - 1]).action
    // One that was sent is perhaps there.
    if case .delete = action, base == .absent, waiting.sent.isEmpty { action = .nothing }
    // Whoever changed it next knew what is there.
    if base == .any,
      let next = waiting.entries.lazy.map({ OutboxItem($0) }).first(where: { $0.base != .any })
    {
      (base, was) = (next.base, next.was)
    }
    var item = OutboxItem(
      ids: waiting.entries.map(\.id), time: first.time, place: place, action: action)
    (item.base, item.was, item.sent) = (base, was, waiting.sent)
    item.isRenewed = waiting.entries.dropLast().contains {
      if case .delete = $0.change { true } else { false }
    }
    return item
  }

  private static func item(_ entry: OutboxEntry, _ sent: [OutboxItem.Sent]) -> OutboxItem {
    var item = OutboxItem(entry)
    item.sent = sent
    return item
  }
}
