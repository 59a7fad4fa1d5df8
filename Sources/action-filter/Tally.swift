import CLibc
import Core
import Records

/// What `--by` counts by.
enum Grouping: String, CaseIterable, Sendable {
  case kind, domain, guild, user, hour, profile
}

/// Counts and costs of actions by group.
struct Tally {
  /// One group.
  struct Group {
    /// The group's name; nil for actions that have none.
    let name: [UInt8]?
    /// How many actions.
    var count = 0
    /// What they cost together.
    var cost = CostSum()
  }

  /// A group while it is counted: its name is a part of `names`.
  private struct Entry {
    /// Where the name is; -1 for actions that have none.
    let start: Int
    let length: Int
    var count = 0
    var cost = CostSum()
  }

  private let grouping: Grouping
  private var groups: [Entry] = []
  private var names: [UInt8] = []
  /// Where the group of a hash begins to be looked for: open addressing, the
  /// index of a group plus one, 0 where free.
  private var slots = [Int32](repeating: 0, count: 256)
  /// The groups seen last, by a hash that costs next to nothing: most records
  /// are of a few groups.
  private var recent = [Int32](repeating: 0, count: 256)

  /// - Parameter grouping: what is counted by.
  init(_ grouping: Grouping) { self.grouping = grouping }

  /// Counts an action.
  mutating func add(_ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch) {
    let index: Int
    switch grouping {
    case .kind: index = find(fields.kind.isString ? scratch.text(of: fields.kind) : nil)
    case .guild: index = find(fields.guild.rawText.map { scratch.text(of: $0) })
    case .profile: index = find(profile.rawText.map { scratch.text(of: $0) })
    case .user: index = find(fields.user.rawText.map { scratch.text(of: $0) })
    case .domain:
      let kind = fields.kind.isString ? scratch.text(of: fields.kind) : .init(start: nil, count: 0)
      index = find(ActionKind.domain(of: kind).rawValue)
    case .hour:
      index = fields.time(scratch).map { find($0.hour.rfc3339) } ?? find(nil)
    }
    groups[index].count += 1
    groups[index].cost.add(fields.cost)
  }

  /// The groups, most actions first, equal ones by name, the nameless last.
  var sorted: [Group] {
    groups.map { group in
      let name = group.start < 0 ? nil : Array(names[group.start..<group.start + group.length])
      return Group(name: name, count: group.count, cost: group.cost)
    }.sorted { a, b in
      if a.count != b.count { return a.count > b.count }
      guard let one = a.name, let other = b.name else { return a.name != nil }
      return one.lexicographicallyPrecedes(other)
    }
  }

  /// A record for each group:
  /// `{"type":"count","kind":"llm_call","count":2,"usd_cost":0.3}`.
  var records: [String] {
    sorted.map { group in
      RecordText(.count)
        .stringOrNull(grouping.rawValue, group.name.map { String(decoding: $0, as: UTF8.self) })
        .number("count", group.count).json("usd_cost", group.cost.text).text
    }
  }

  private mutating func find(_ name: String) -> Int {
    var name = name
    return name.withUTF8 { find(UnsafeRawBufferPointer($0)) }
  }

  private mutating func find(_ name: UnsafeRawBufferPointer?) -> Int {
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
    groups.append(Entry(start: name == nil ? -1 : names.count, length: name?.count ?? 0))
    if let name { names.append(contentsOf: name) }
    slots[slot] = Int32(groups.count)
    if groups.count * 2 > slots.count { grow() }
    return groups.count - 1
  }

  private mutating func grow() {
    slots = [Int32](repeating: 0, count: slots.count * 4)
    for (index, group) in groups.enumerated() {
      let hash = names.withUnsafeBytes { names in
        Self.hash(
          group.start < 0
            ? nil
            : UnsafeRawBufferPointer(rebasing: names[group.start..<group.start + group.length]))
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
    let (start, length) = (groups[index].start, groups[index].length)
    guard let name else { return start < 0 }
    guard start >= 0 && length == name.count else { return false }
    guard let other = name.baseAddress else { return true }
    return names.withUnsafeBytes { names in
      names.baseAddress.map { memcmp($0 + start, other, length) == 0 } ?? (length == 0)
    }
  }
}

extension Timestamp {
  /// The full hour (UTC) that this instant is in.
  fileprivate var hour: Timestamp {
    let rest = seconds % 3600
    return Timestamp(seconds: seconds - (rest < 0 ? rest + 3600 : rest))
  }
}
