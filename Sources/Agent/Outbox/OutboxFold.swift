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
    case .sending(let cid, let conflicts, let ids): receive(sending: cid, conflicts, ids)
    case .ack(let ack, let ids, let time): receive(ack, ids, time)
    case .other: break
    }
    return true
  }

  private mutating func receive(sending cid: CID?, _ conflicts: [[UInt8]], _ ids: [TID]) {
    guard let last = ids.last, let place = places[last] else { return }
    guard let place else {
      guard let index = prompts.firstIndex(where: { $0.entry.id == last }) else { return }
      prompts[index].sent.append(.init())
      return
    }
    guard var waiting = records[place] else { return }
    waiting.entries.removeAll { !ids.contains($0.id) }
    guard !waiting.entries.isEmpty else { return }
    let item = Self.item(place, waiting)
    guard case .put(let draft) = item.action else {
      // From here on it is a deletion of that, and of nothing that comes behind it.
      if let cid, item.change.base == .any { records[place]?.base = (.cid(cid), nil) }
      records[place]?.sent.append(.init())
      return
    }
    records[place]?.sent.append(.init(cid: cid, record: draft.bytes, conflicts: conflicts))
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
    default: (item.change.base, item.change.was)
    }
  }

  private static func item(_ place: RecordPlace, _ waiting: Waiting) -> OutboxItem {
    let changes = waiting.entries.map(\.change)
    var change = changes[0]
    if let base = waiting.base { (change.base, change.was) = base }
    change.action = changes[changes.count - 1].action
    // One that was sent is perhaps there.
    if case .delete = change.action, change.base == .absent, waiting.sent.isEmpty {
      change.action = .nothing
    }
    // Whoever changed it next knew what is there.
    if change.base == .any, let next = changes.first(where: { $0.base != .any }) {
      (change.base, change.was) = (next.base, next.was)
    }
    var item = OutboxItem(waiting.entries, change)
    item.sent = waiting.sent
    item.isRenewed = changes.dropLast().contains {
      if case .delete = $0.action { true } else { false }
    }
    return item
  }

  private static func item(_ entry: OutboxEntry, _ sent: [OutboxItem.Sent]) -> OutboxItem {
    var item = OutboxItem(entry)
    item.sent = sent
    return item
  }
}
