/// Tells whether an action of a recording was already met: a recording holds
/// the same action as an event and as a row of the snapshots after it.
///
/// The contract's key compares both spellings (clanky-details, 3.2). Several
/// equal actions are several: each source counts its own, and an action is new
/// when its source has shown more of them than were given out so far.
struct SeenActions {
  private struct Tally {
    var given = 0
    var bySource: [String: Int] = [:]
  }

  private var tallies: [Int: Tally] = [:]
  private var rows: Set<String> = []
  private var order: [Int] = []
  private let capacity: Int

  /// - Parameter capacity: the keys that are remembered; twice that for a moment.
  init(capacity: Int = 1 << 16) { self.capacity = capacity }

  /// Notes an action.
  ///
  /// - Parameters:
  ///   - action: the action.
  ///   - row: the id that its row has, nil for an event.
  ///   - source: where it stands: `row`, the event's name, or empty when bare.
  /// - Returns: whether it is to be given out.
  mutating func isNew(_ action: LoggedAction, row: String?, source: String) -> Bool {
    if let row, !rows.insert(row).inserted { return false }
    let key = Self.key(action)
    if tallies[key] == nil { remember(key) }
    var tally = tallies[key] ?? Tally()
    tally.bySource[source, default: 0] += 1
    let isNew = tally.bySource[source, default: 0] > tally.given
    if isNew { tally.given += 1 }
    tallies[key] = tally
    return isNew
  }

  private mutating func remember(_ key: Int) {
    order.append(key)
    if order.count >= capacity * 2 {
      for old in order.prefix(capacity) { tallies[old] = nil }
      order.removeFirst(capacity)
    }
    if rows.count > capacity * 16 { rows.removeAll() }
  }

  /// 64 bits drawn anew in every process: enough to tell the keys of a window.
  private static func key(_ action: LoggedAction) -> Int {
    var hasher = Hasher()
    hasher.combine(action.createdAt)
    hasher.combine(action.kind)
    hasher.combine(action.guild)
    hasher.combine(action.channel)
    hasher.combine(action.message)
    hasher.combine(action.user)
    if let content = action.content {
      let units = content.utf16
      let limit = ActionEncoder.rowContentLimit
      if content.utf8.count > limit && units.count > limit {
        for unit in units.prefix(limit - 1) { hasher.combine(unit) }
        // A pair that is cut in two may have become U+FFFD in its row.
        let last = units[units.index(units.startIndex, offsetBy: limit - 1)]
        hasher.combine(last & 0xf800 == 0xd800 && last & 0x400 == 0 ? 0xfffd : last)
      } else {
        for unit in units { hasher.combine(unit) }
      }
      hasher.combine(UInt8(0xff))
    }
    return hasher.finalize()
  }
}
