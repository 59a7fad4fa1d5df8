import Core
import Records

/// Two changes of one record made into one (Agent/Outbox/CONTRACT.md 3). The members keep the
/// bytes of the side that they are taken from, and the order of what is there now.
public struct ThreeWayMerge: Equatable, Sendable {
  /// The record with both changes.
  public private(set) var record: [UInt8]
  /// What lost, each an object with the member's name, the side that it is from, and its value.
  public private(set) var conflicts: [[UInt8]] = []

  private static let counters: Set = ["steps", "waterMl", "activeKcal"]
  private static let sets: Set = ["labels", "sharedWith", "participants"]
  private static let texts: Set = ["title", "text", "due"]

  /// Merges.
  ///
  /// - Parameter was: what both were made from; nil where that is not known, and then nothing is
  ///   taken away: what only one of them has is kept.
  public init(was: [UInt8]?, ours: [UInt8], theirs: [UInt8]) {
    let base = was.map(MergeSide.init)
    let (ours, theirs) = (MergeSide(ours), MergeSide(theirs))
    record = []
    for name in theirs.names + ours.names.filter({ theirs[$0] == nil }) {
      guard let value = choose(name, base, ours, theirs) else { continue }
      record += record.isEmpty ? [UInt8(ascii: "{")] : [UInt8(ascii: ",")]
      let key = theirs[name]?.key ?? ours[name]?.key ?? []
      record += [UInt8(ascii: "\"")] + key + Array("\":".utf8) + value
    }
    record += record.isEmpty ? Array("{}".utf8) : [UInt8(ascii: "}")]
  }

  /// Whether a change is worth more than a deletion by somebody else: one of what it says.
  public static func outlivesDeletion(was: [UInt8], ours: [UInt8]) -> Bool {
    let (was, ours) = (MergeSide(was), MergeSide(ours))
    return texts.contains { !MergeValue.isSame(was[$0]?.value, ours[$0]?.value) }
  }

  private mutating func choose(
    _ name: String, _ base: MergeSide?, _ ours: MergeSide, _ theirs: MergeSide
  ) -> [UInt8]? {
    let (own, other) = (ours[name]?.value, theirs[name]?.value)
    if MergeValue.isSame(own, other) { return other }
    if let base {
      let before = base[name]?.value
      if MergeValue.isSame(before, own) { return other }
      if MergeValue.isSame(before, other) { return own }
    } else if own == nil || other == nil {
      return own ?? other
    }
    if name == "updatedAt" { return ours.isNewer(than: theirs) ? own : other }
    if Self.sets.contains(name), let set = Self.set(base?[name]?.value, own, other) { return set }
    if Self.counters.contains(name), let mine = MergeValue.number(own),
      let yours = MergeValue.number(other)
    {
      return mine > yours ? own : other
    }
    if name == "status", let isOurs = Self.isStatusOurs(ours, theirs) {
      return isOurs ? own : other
    }
    let isOurs = ours.isNewer(than: theirs)
    let loser = isOurs ? other : own
    conflicts.append(
      RecordText().string("member", name).string("of", isOurs ? "theirs" : "ours")
        .json("value", bytes: loser ?? Array("null".utf8)).bytes)
    return isOurs ? own : other
  }

  /// What was there, with what either side added, without what either took away.
  private static func set(_ base: [UInt8]?, _ ours: [UInt8]?, _ theirs: [UInt8]?) -> [UInt8]? {
    guard let base = MergeValue.elements(base), let ours = MergeValue.elements(ours),
      let theirs = MergeValue.elements(theirs)
    else { return nil }
    let has = { (set: [[UInt8]], one: [UInt8]) in set.contains { MergeValue.isSame($0, one) } }
    var found: [[UInt8]] = []
    for one in theirs + ours where !has(found, one) {
      // Taken away by the side that has not what was there.
      if has(base, one), !has(ours, one) || !has(theirs, one) { continue }
      found.append(one)
    }
    return [0x5b] + found.joined(separator: [0x2c]) + [0x5d]
  }

  /// Done beats open; cancelled beats both if it is the newer one. Nil for other words.
  private static func isStatusOurs(_ ours: MergeSide, _ theirs: MergeSide) -> Bool? {
    let words = [ours, theirs].map { MergeValue.text($0["status"]?.value) }
    guard words.allSatisfy({ ["open", "done", "cancelled"].contains($0) }) else { return nil }
    if words[0] == "cancelled" { return ours.isNewer(than: theirs) }
    if words[1] == "cancelled" { return !theirs.isNewer(than: ours) }
    return words[0] == "done"
  }
}
