import Core

/// The last so many different keys: a ring in the order they came, and an open
/// hash table of 4 bytes a place that finds them in it.
struct ActionWindowKeys {
  private let capacity: Int
  private var keys: [ActionKey] = []
  private var oldest = 0
  /// A position in `keys` plus one; 0 where free. Linear probing, at most half
  /// full, a power of two.
  private var slots = [UInt32](repeating: 0, count: 64)
  /// Another number in each process: the digests are the same everywhere, and
  /// nobody is to choose actions that meet in one place.
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize()) | 1

  /// - Parameter capacity: how many keys are remembered; at least one.
  init(capacity: Int) { self.capacity = min(max(capacity, 1), Int(Int32.max)) }

  /// Notes a key; the oldest one is forgotten where there is no room.
  ///
  /// - Returns: its position, which it keeps until it is forgotten, and whether
  ///   it was not there.
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

  /// The position of a key, nil when it is not there.
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

  /// Frees a key's place and moves those behind it that would not be found any
  /// more.
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
