import CLibc

struct NameIndex {
  private struct Entry {
    /// Where it is; -1 for that of what has none.
    let start: Int
    let length: Int
  }

  private var entries: [Entry] = []
  private var names: [UInt8] = []
  /// Where the number of a hash begins to be looked for: open addressing, the
  /// number of a name plus one, 0 where free.
  private var slots = [Int32](repeating: 0, count: 256)
  /// The names seen last, by a hash that costs next to nothing: most records
  /// are of a few groups.
  private var recent = [Int32](repeating: 0, count: 256)

  func withName<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
    let entry = entries[number]
    if entry.start < 0 { return body(nil) }
    return names.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[entry.start..<entry.start + entry.length]))
    }
  }

  mutating func clear() {
    if entries.isEmpty { return }
    entries.removeAll(keepingCapacity: true)
    names.removeAll(keepingCapacity: true)
    for slot in slots.indices { slots[slot] = 0 }
    for place in recent.indices { recent[place] = 0 }
  }

  /// The number of a name, a new one if it was not seen before; nil is a name, too.
  mutating func find(_ name: UnsafeRawBufferPointer?) -> Int {
    let place = Self.quickHash(name) & 255
    let known = Int(recent[place]) - 1
    if known >= 0, isNamed(known, name) { return known }
    let index = lookUp(name)
    recent[place] = Int32(index + 1)
    return index
  }

  private mutating func lookUp(_ name: UnsafeRawBufferPointer?) -> Int {
    let mask = slots.count - 1
    var slot = Self.hash(name) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if isNamed(index, name) { return index }
      slot = (slot + 1) & mask
    }
    entries.append(Entry(start: name == nil ? -1 : names.count, length: name?.count ?? 0))
    if let name { names.append(contentsOf: name) }
    slots[slot] = Int32(entries.count)
    if entries.count * 2 > slots.count { grow() }
    return entries.count - 1
  }

  private mutating func grow() {
    slots = [Int32](repeating: 0, count: slots.count * 4)
    for (index, entry) in entries.enumerated() {
      let hash = names.withUnsafeBytes { names in
        Self.hash(
          entry.start < 0
            ? nil
            : UnsafeRawBufferPointer(rebasing: names[entry.start..<entry.start + entry.length]))
      }
      var slot = hash & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(index + 1)
    }
  }

  private static func hash(_ name: UnsafeRawBufferPointer?) -> Int {
    var hasher = Hasher()
    if let name { hasher.combine(bytes: name) } else { hasher.combine(0) }
    return hasher.finalize()
  }

  /// Of the length, the first and the last bytes alone.
  private static func quickHash(_ name: UnsafeRawBufferPointer?) -> Int {
    guard let name, let base = name.baseAddress, name.count > 0 else { return 0 }
    var word = UInt64(name.count)
    if name.count >= 8 {
      word ^= base.loadUnaligned(as: UInt64.self)
      word ^= base.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self) &* 31
    } else {
      for byte in name { word = word &* 31 &+ UInt64(byte) }
    }
    return Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 40)
  }

  @inline(__always)
  private func isNamed(_ index: Int, _ name: UnsafeRawBufferPointer?) -> Bool {
    let (start, length) = (entries[index].start, entries[index].length)
    guard let name else { return start < 0 }
    guard start >= 0 && length == name.count else { return false }
    guard let other = name.baseAddress else { return true }
    return names.withUnsafeBytes { names in
      names.baseAddress.map { memcmp($0 + start, other, length) == 0 } ?? (length == 0)
    }
  }
}
