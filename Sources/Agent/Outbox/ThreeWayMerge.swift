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
    return texts.contains { !isSame(was[$0]?.value, ours[$0]?.value) }
  }

  private mutating func choose(
    _ name: String, _ base: MergeSide?, _ ours: MergeSide, _ theirs: MergeSide
  ) -> [UInt8]? {
    let (own, other) = (ours[name]?.value, theirs[name]?.value)
    if Self.isSame(own, other) { return other }
    if let base {
      let before = base[name]?.value
      if Self.isSame(before, own) { return other }
      if Self.isSame(before, other) { return own }
    } else if own == nil || other == nil {
      return own ?? other
    }
    if name == "updatedAt" { return ours.isNewer(than: theirs) ? own : other }
    if Self.sets.contains(name), let set = Self.set(base?[name]?.value, own, other) { return set }
    if Self.counters.contains(name), let mine = Self.number(own),
      let yours = Self.number(other)
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
    guard let base = Answer.elements(base ?? none), let ours = Answer.elements(ours ?? none),
      let theirs = Answer.elements(theirs ?? none)
    else { return nil }
    let has = { (set: [[UInt8]], one: [UInt8]) in set.contains { isSame($0, one) } }
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
    let words = [ours, theirs].map { OutboxLine.text($0["status"]?.value) }
    guard words.allSatisfy({ ["open", "done", "cancelled"].contains($0) }) else { return nil }
    if words[0] == "cancelled" { return ours.isNewer(than: theirs) }
    if words[1] == "cancelled" { return !theirs.isNewer(than: ours) }
    return words[0] == "done"
  }

  private static let none = Array("[]".utf8)

  /// Whether two values mean the same, however they are spelled.
  static func isSame(_ one: [UInt8]?, _ other: [UInt8]?) -> Bool {
    if one == other { return true }
    guard let one, let other else { return false }
    let trees = [one, other].map { bytes in
      bytes.withUnsafeBytes { try? CBORValue.record($0) }
    }
    guard let first = trees[0], let second = trees[1] else { return false }
    return first.encoded == second.encoded
  }

  private static func number(_ value: [UInt8]?) -> Int64? {
    value.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
  }
}

/// A record as a merge sees it: its members in their order, each with its own bytes.
private struct MergeSide {
  private(set) var names: [String] = []
  /// By the bytes of the name: texts that look alike are two names. The key is what stands between
  /// the quotes, escapes and all.
  private var members: [[UInt8]: (key: [UInt8], value: [UInt8])] = [:]
  /// When it was changed, by `updatedAt`; nil where it does not say.
  private(set) var updated: Timestamp?

  init(_ record: [UInt8]) {
    record.withUnsafeBytes { bytes in
      guard var scan = try? ScanMembers(bytes) else { return }
      while (try? scan.next()) == true {
        let name = scan.key.unescaped
        let member = (Array(scan.key.bytes), Array(scan.value.bytes))
        if members.updateValue(member, forKey: Array(name.utf8)) == nil { names.append(name) }
      }
    }
    updated = OutboxLine.text(self["updatedAt"]?.value).flatMap { Timestamp(rfc3339: $0) }
  }

  subscript(name: String) -> (key: [UInt8], value: [UInt8])? { members[Array(name.utf8)] }

  /// Whether this side's word counts where both changed something: it is the newer one.
  func isNewer(than other: MergeSide) -> Bool {
    guard let updated else { return false }
    return other.updated.map { $0 < updated } ?? true
  }
}
