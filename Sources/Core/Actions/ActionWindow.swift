/// Tells new actions from those already seen, across the spellings of the wire.
///
/// A row has an id, a live action often has none, and the same action comes as
/// row, as `action_event` and as `voice_event`. Equal actions of one
/// millisecond are several actions: each source counts its own, and an action
/// is new when its source has seen more of that key than were let through. A
/// known id is never new. Memory is bounded: the oldest keys are forgotten first.
public struct ActionWindow {
  /// Where an action stood.
  public enum Source: Int, Sendable {
    /// In a snapshot, a backfill or a list: `id`, snake_case.
    case row
    /// In an `action_event`.
    case actionEvent
    /// In a `voice_event`, a copy of an `action_event`.
    case voiceEvent
    /// In a record of its own, without an id.
    case bare
  }

  private struct Counts {
    var passed: UInt32 = 0
    var seen: (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
  }

  private let capacity: Int
  private var counts: [ActionKey: Counts] = [:]
  private var ids: Set<ActionKey> = []
  private var keyOrder: Ring
  private var idOrder: Ring

  /// - Parameter capacity: the most keys, and the most ids, that are remembered.
  public init(capacity: Int = 1 << 17) {
    self.capacity = max(capacity, 1)
    keyOrder = Ring(capacity: self.capacity)
    idOrder = Ring(capacity: self.capacity)
  }

  /// Notes an action.
  ///
  /// - Parameters:
  ///   - id: the key of its id's text (`ActionKey(text:)`), nil without one.
  ///   - key: the contract's key.
  ///   - source: where it stood.
  /// - Returns: whether it was not seen before.
  public mutating func isNew(id: ActionKey?, key: ActionKey, source: Source) -> Bool {
    if let id {
      if !ids.insert(id).inserted { return false }
      if let forgotten = idOrder.push(id) { ids.remove(forgotten) }
    }
    if counts[key] == nil, let forgotten = keyOrder.push(key) { counts[forgotten] = nil }
    return Self.note(&counts[key, default: Counts()], source)
  }

  private static func note(_ counts: inout Counts, _ source: Source) -> Bool {
    let seen: UInt32
    switch source {
    case .row: (counts.seen.0, seen) = (counts.seen.0 &+ 1, counts.seen.0 &+ 1)
    case .actionEvent: (counts.seen.1, seen) = (counts.seen.1 &+ 1, counts.seen.1 &+ 1)
    case .voiceEvent: (counts.seen.2, seen) = (counts.seen.2 &+ 1, counts.seen.2 &+ 1)
    case .bare: (counts.seen.3, seen) = (counts.seen.3 &+ 1, counts.seen.3 &+ 1)
    }
    if seen <= counts.passed { return false }
    counts.passed += 1
    return true
  }

  /// The last keys in the order they came.
  private struct Ring {
    private var keys: [ActionKey] = []
    private var oldest = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    /// Adds a key; returns the one that falls out.
    mutating func push(_ key: ActionKey) -> ActionKey? {
      if keys.count < capacity {
        keys.append(key)
        return nil
      }
      let forgotten = keys[oldest]
      keys[oldest] = key
      oldest = (oldest + 1) % capacity
      return forgotten
    }
  }
}
