/// The ids of events that came, by hashes of 64 bits with a key of this process: what one
/// cannot aim at does not collide among a few thousand.
package struct SeenIDs {
  /// The ids that are remembered.
  package private(set) var count = 0
  /// Open addressing, at most half full; 0 is free.
  private var slots: [UInt64] = []

  package init() {}

  private static let key = UInt64.random(in: .min ... .max)

  /// Remembers an id.
  ///
  /// - Returns: whether it is new.
  package mutating func insert(_ id: String) -> Bool {
    if (count + 1) * 2 > slots.count { grow() }
    guard put(Self.hash(id)) else { return false }
    count += 1
    return true
  }

  mutating func forgetAll(but id: String) {
    self = SeenIDs()
    _ = insert(id)
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(16, old.count * 2))
    for hash in old where hash != 0 { _ = put(hash) }
  }

  private mutating func put(_ hash: UInt64) -> Bool {
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash >> 20) & mask
    while slots[place] != 0 {
      if slots[place] == hash { return false }
      place = (place + 1) & mask
    }
    slots[place] = hash
    return true
  }

  private static func hash(_ id: String) -> UInt64 {
    var id = id
    return id.withUTF8 { bytes in
      var state = key ^ UInt64(bytes.count)
      var at = 0
      let raw = UnsafeRawBufferPointer(bytes)
      while at < raw.count {
        var word: UInt64 = 0
        if raw.count - at >= 8 {
          word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        } else {
          for byte in raw[at...] { word = word << 8 | UInt64(byte) }
        }
        state = mix(state ^ word, 0x9e37_79b9_7f4a_7c15 ^ (key << 1 | 1))
        at += 8
      }
      return mix(state, 0xd1b5_4a32_d192_ed03) | 1
    }
  }

  private static func mix(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let (high, low) = first.multipliedFullWidth(by: second)
    return high ^ low
  }
}

/// The last one asked for is asked for again, as a rule.
struct TextPlaces {
  private var messages: [String: FoldedMessage] = [:]
  private var last: (key: String, message: FoldedMessage)?

  subscript(key: String) -> FoldedMessage? {
    mutating get {
      if let last, last.key == key { return last.message }
      guard let message = messages[key] else { return nil }
      last = (key, message)
      return message
    }
    set {
      last = nil
      messages[key] = newValue
    }
  }
}
