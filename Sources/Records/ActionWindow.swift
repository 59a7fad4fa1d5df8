public import Core

/// Tells new actions from those already seen, across the spellings of the wire.
///
/// A row has an id, a live action often has none, and the same action comes as
/// row, as `action_event` and as `voice_event`. Equal actions of one
/// millisecond are several actions: each source counts its own, and an action
/// is new when its source has seen more of that key than were let through. An action
/// whose id is known is not new, unless the id was another action's: a database that was
/// replaced gives its ids anew. Memory is bounded: the oldest keys are forgotten first.
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

  /// For each source: how many fewer of a key it has shown than were passed.
  private typealias Behind = SIMD4<UInt32>

  private var ids: ActionWindowKeys
  /// By the position of the id: half of the key of its action.
  private var owners: [UInt64] = []
  /// Ids of several actions, each with half of a key: what is read twice is told once.
  private var pairs: ActionWindowKeys
  /// How many ids were given anew.
  public private(set) var reused = 0
  private var keys: ActionWindowKeys
  private var behind: [Behind] = []

  /// - Parameter capacity: the most keys, and the most ids, that are remembered;
  ///   up to 72 bytes for each.
  public init(capacity: Int = 1 << 17) {
    ids = ActionWindowKeys(capacity: capacity)
    pairs = ActionWindowKeys(capacity: capacity)
    keys = ActionWindowKeys(capacity: capacity)
  }

  /// Whether this action was noted, with this id.
  public func isKnown(id: ActionKey, key: ActionKey) -> Bool {
    ids.position(of: id).map {
      owners[$0] == key.high || pairs.position(of: id.pair(key.high)) != nil
    } ?? false
  }

  /// How many more actions of this key the source may show before one is new;
  /// above 0 when another source has shown more of them.
  public func owed(_ key: ActionKey, to source: Source) -> Int {
    keys.position(of: key).map { Int(behind[$0][source.rawValue]) } ?? 0
  }

  /// Notes an action by its members.
  ///
  /// - Parameter profile: whose it is, a string of JSON; what two profiles have alike is not the
  ///   same. Absent where that is not said.
  /// - Returns: whether it was not seen before.
  public mutating func isNew(
    _ fields: ActionFields, _ source: Source, profile: ScanValue, _ scratch: ScanScratch
  ) -> Bool {
    var id = fields.id.rawText.map { ActionKey(text: scratch.text(of: $0)) }
    var key = ActionKey(fields, scratch: scratch)
    if let raw = profile.rawText {
      let name = scratch.text(of: raw)
      id = id?.of(profile: name)
      key = key.of(profile: name)
    }
    return isNew(id: id, key: key, source: source)
  }

  /// Notes an action.
  ///
  /// - Parameters:
  ///   - id: the key of its id's text (`ActionKey(text:)`), nil without one.
  ///   - key: what equal actions have in common (Agent/Clanky/CONTRACT.md 3.2).
  /// - Returns: whether it was not seen before.
  public mutating func isNew(id: ActionKey?, key: ActionKey, source: Source) -> Bool {
    if let id, isKnown(id, of: key) { return false }
    let (position, isNew) = keys.note(key)
    if position == behind.count {
      behind.append(Behind())
    } else if isNew {
      behind[position] = Behind()
    }
    // What was passed is always as much as the source that showed most.
    if behind[position][source.rawValue] > 0 {
      behind[position][source.rawValue] -= 1
      return false
    }
    behind[position] &+= 1
    behind[position][source.rawValue] = 0
    return true
  }

  private mutating func isKnown(_ id: ActionKey, of key: ActionKey) -> Bool {
    let (position, isNew) = ids.note(id)
    if position == owners.count {
      owners.append(key.high)
      return false
    }
    if owners[position] == key.high { return !isNew }
    if isNew {
      owners[position] = key.high
      return false
    }
    _ = pairs.note(id.pair(owners[position]))
    owners[position] = key.high
    guard pairs.note(id.pair(key.high)).isNew else { return true }
    reused += 1
    return false
  }
}

/// The last so many different keys: a ring in the order they came, and an open
/// hash table of 4 bytes a place that finds them in it.
struct ActionWindowKeys {
  private let capacity: Int
  private var keys: [ActionKey] = []
  private var oldest = 0
  /// A position in `keys` plus one, 0 free; linear probing, half full at most, power of two.
  private var slots = [UInt32](repeating: 0, count: 64)
  /// Another number in each process: the digests are the same everywhere, and
  /// nobody is to choose actions that meet in one place.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize()) | 1

  init(capacity: Int) { self.capacity = min(max(capacity, 1), Int(Int32.max)) }

  /// Notes a key; the oldest one is forgotten where there is no room. Returns its position, which
  /// it keeps until it is forgotten, and whether it was not there.
  mutating func note(_ key: ActionKey) -> (position: Int, isNew: Bool) {
    var slot = home(key)
    while slots[slot] != 0 {
      let position = Int(slots[slot]) - 1
      if keys[position] == key { return (position, false) }
      slot = (slot + 1) & (slots.count - 1)
    }
    if keys.count < capacity {
      if (keys.count + 1) * 2 > slots.count { grow() }
      keys.append(key)
      place(keys.count - 1)
      return (keys.count - 1, true)
    }
    let position = oldest
    forget(keys[position])
    keys[position] = key
    place(position)
    oldest = (oldest + 1) % capacity
    return (position, true)
  }

  func position(of key: ActionKey) -> Int? {
    var slot = home(key)
    while slots[slot] != 0 {
      let position = Int(slots[slot]) - 1
      if keys[position] == key { return position }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func home(_ key: ActionKey) -> Int {
    // The upper bits of a product depend on all of the digest's.
    let product = (key.high ^ key.low >> 32) &* seed
    return Int(truncatingIfNeeded: product >> 32) & (slots.count - 1)
  }

  private mutating func place(_ position: Int) {
    var slot = home(keys[position])
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = UInt32(position + 1)
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for position in keys.indices { place(position) }
  }

  /// Moves those behind a freed place that would not be found any more.
  private mutating func forget(_ key: ActionKey) {
    let mask = slots.count - 1
    var free = home(key)
    while slots[free] != 0, keys[Int(slots[free]) - 1] != key { free = (free + 1) & mask }
    var slot = (free + 1) & mask
    while slots[slot] != 0 {
      let start = home(keys[Int(slots[slot]) - 1])
      // Its search begins at or before the free place.
      if (slot - start) & mask >= (slot - free) & mask {
        slots[free] = slots[slot]
        free = slot
      }
      slot = (slot + 1) & mask
    }
    slots[free] = 0
  }
}
