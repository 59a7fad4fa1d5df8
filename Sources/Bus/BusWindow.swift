import Core

/// What was published and is not acknowledged yet: what is to be sent next, and again, and in
/// which order. It has no clock of its own.
///
/// After a lost link all goes again, oldest first. After an answer that nothing can be stored
/// now, the oldest alone is tried until it is taken, and then the rest in order: never a new
/// record before an old one is sent again.
public struct BusWindow {
  /// A record on its way.
  public struct Item: Sendable {
    /// What it goes by.
    public let label: BusLabel
    /// The line, without its line feed.
    public internal(set) var bytes: [UInt8]
    /// The line's number, from 1.
    public let line: Int

    public init(_ label: BusLabel, bytes: [UInt8], line: Int) {
      (self.label, self.bytes, self.line) = (label, bytes, line)
    }
  }

  private struct Slot {
    var item: Item
    var sentAt: Double?
    /// When it was sent first of those times of which nobody knows what came; nil for never.
    var doubtedSince: Double?
    var isSettled = false
  }

  private let records: Int
  private let bytes: Int
  private var slots: [Slot] = []
  /// The oldest that is not settled, in `slots`; the ones before it are gone.
  private var head = 0
  private var base = 0
  private var cursor = 0
  private var open = 0
  private var held = 0
  /// When the oldest is tried again; nil while all goes well.
  private var probeAt: Double?
  private var wait = shortestWait
  /// The token behind those that a server refused: as long as one of them is open, nothing goes
  /// beside the oldest. A full stream that has room meanwhile would take the next one first.
  private var aloneUntil = 0
  private var overdueAt = Double.infinity
  /// When what was late at the last look has gone again.
  private var calmAt = 0.0
  /// How far all is settled: what the records say before which nothing is open.
  public private(set) var settled = Mark()

  /// A place in the stream of events that the records came from.
  public struct Mark: Equatable, Sendable {
    /// The last event id; nil for none.
    public private(set) var event: String?
    /// When the newest action was done; nil for none.
    public private(set) var created: String?

    fileprivate mutating func pass(_ label: BusLabel) {
      event = label.event ?? event
      created = Self.later(created, label.created)
    }

    /// The later of two times as they were written; what is no time counts as none.
    public static func later(_ one: String?, _ other: String?) -> String? {
      guard let other, let time = Timestamp(rfc3339: other) else { return one }
      guard let one, let known = Timestamp(rfc3339: one), known >= time else { return other }
      return one
    }
  }

  /// How long an answer may take, seconds.
  public static let patience = 5.0
  /// After how long without an answer to the oldest record nothing new is sent, seconds.
  private static let lateness = 0.5
  private static let shortestWait = 0.1
  private static let longestWait = 0.5

  /// - Parameters:
  ///   - records: how many may be open.
  ///   - bytes: how many bytes of them.
  public init(records: Int = 256, bytes: Int = 8 << 20) {
    (self.records, self.bytes) = (max(records, 1), bytes)
  }

  /// Whether nothing is open.
  public var isEmpty: Bool { open == 0 }

  /// Whether another record is welcome. What is settled behind an open one counts a little.
  public var hasRoom: Bool {
    open < records && held < bytes && slots.count - head < records * 4
  }

  /// Takes a record.
  public mutating func add(_ item: Item) {
    slots.append(Slot(item: item))
    open += 1
    held += item.bytes.count
  }

  /// What is to be sent now; it counts as sent.
  ///
  /// - Returns: nil for nothing; `token` stands for the record in the calls below.
  public mutating func next(now: Double) -> (token: Int, item: Item)? {
    if let probe = probeAt {
      guard open > 0, now >= probe else { return nil }
      // Where its answer is lost, too, it goes once more.
      probeAt = now + Self.patience
      return send(head, now)
    }
    if now >= overdueAt { recall(sentBefore: now - Self.patience) }
    while cursor < slots.count {
      if !slots[cursor].isSettled, slots[cursor].sentAt == nil {
        if base + head < aloneUntil, cursor != head { return nil }
        // While an answer is late, nothing new goes: what is lost goes again before it.
        if slots[cursor].doubtedSince == nil, isLate(now) { return nil }
        return send(cursor, now)
      }
      cursor += 1
    }
    return nil
  }

  private func isLate(_ now: Double) -> Bool {
    now < calmAt || slots[head].sentAt.map { now > $0 + Self.lateness } ?? false
  }

  private mutating func send(_ place: Int, _ now: Double) -> (token: Int, item: Item) {
    slots[place].sentAt = now
    slots[place].doubtedSince = slots[place].doubtedSince ?? now
    overdueAt = min(overdueAt, now + Self.patience)
    return (base + place, slots[place].item)
  }

  /// When `next` may have something that it has not now; infinity for not before something else
  /// happens.
  public var due: Double {
    if open == 0 { return .infinity }
    if let probeAt { return probeAt }
    return overdueAt
  }

  /// It is stored.
  ///
  /// - Returns: its line's number; nil when it was settled before.
  @discardableResult
  public mutating func store(_ token: Int) -> Int? { refuse(token)?.line }

  /// Since when it may be stored without our knowing, for it was sent then and nobody said that
  /// it is not.
  public func doubtedSince(_ token: Int) -> Double? {
    let place = token - base
    return slots.indices.contains(place) ? slots[place].doubtedSince : nil
  }

  /// It will never be stored.
  ///
  /// - Returns: the record; nil when it was settled before.
  public mutating func refuse(_ token: Int) -> Item? {
    let place = token - base
    guard slots.indices.contains(place), !slots[place].isSettled else { return nil }
    let item = slots[place].item
    let isOldest = place == head
    open -= 1
    held -= item.bytes.count
    slots[place].isSettled = true
    slots[place].item.bytes = []
    while head < slots.count, slots[head].isSettled {
      settled.pass(slots[head].item.label)
      head += 1
    }
    cursor = max(cursor, head)
    if isOldest { probeAt = nil }
    if head > 1024, head * 2 > slots.count {
      slots.removeFirst(head)
      base += head
      cursor -= head
      head = 0
    }
    return item
  }

  /// It, or something, could not be stored now.
  ///
  /// - Parameter token: nil where nobody says which.
  public mutating func fail(_ token: Int?, now: Double) {
    guard open > 0 else { return }
    if let token, slots.indices.contains(token - base) {
      slots[token - base].doubtedSince = nil
      let last = slots.lastIndex { $0.sentAt != nil } ?? head
      aloneUntil = max(aloneUntil, base + last + 1)
    }
    if probeAt == nil {
      wait = Self.shortestWait
      recall(sentBefore: .infinity)
    } else {
      // Of those that were under way before, only one failure counts.
      guard slots[head].sentAt != nil, token == nil || token == base + head else { return }
      slots[head].sentAt = nil
      wait = min(wait * 1.5, Self.longestWait)
    }
    probeAt = now + wait
  }

  /// The link is lost, and all that was under way.
  public mutating func lose() {
    (probeAt, calmAt) = (nil, 0)
    recall(sentBefore: .infinity)
  }

  private mutating func recall(sentBefore limit: Double) {
    overdueAt = .infinity
    for place in head..<max(slots.count, head) where !slots[place].isSettled {
      guard let sent = slots[place].sentAt else { continue }
      if sent <= limit {
        slots[place].sentAt = nil
      } else {
        overdueAt = min(overdueAt, sent + Self.patience)
        if sent + Self.lateness <= limit + Self.patience { calmAt = sent + Self.patience }
      }
    }
    cursor = head
  }
}
