public import Core
import Records

/// Sends what waits in an outbox, each thing once (Agent/Outbox/CONTRACT.md 4). Whoever calls it
/// has the lock `OutboxFile.sender`.
public struct OutboxSender {
  private let file: OutboxFile
  private let records: PDSRecords
  private let copies: RecordCopies

  static let mostRounds = 5

  /// - Parameter copies: told what is there in the end.
  public init(_ file: OutboxFile, _ records: PDSRecords, _ copies: RecordCopies) {
    (self.file, self.records, self.copies) = (file, records, copies)
    records.isQueued = true
    file.isOwn = records.isOwn
  }

  /// Finds out whose the records are of which nobody could say it when they were kept.
  ///
  /// - Throws: `Failure` when nobody can say it now; then they wait.
  public func settle() throws(Failure) {
    let owners = Set(file.fold.open.compactMap { $0.place?.owner })
    if owners.isEmpty { return }
    for owner in owners { _ = try records.owns(owner) }
    try file.lookAgain()
  }

  /// Sends what waits for a record.
  ///
  /// - Returns: the item with its answer, which is on disk; nil when nothing waits.
  /// - Throws: `Failure` when it could not be sent, or the answer could not be kept: it
  ///   waits then as before. `failure` is about this record: others may be sent all the same.
  public func send(_ place: RecordPlace) throws(Failure) -> OutboxItem? {
    try file.look()
    guard let item = file.fold.item(of: place) else { return nil }
    if let owner = place.owner, !(try records.owns(owner)) {
      let ack = OutboxAck(.dropped, reason: "somebody else's record")
      return try file.answer(item, ack)
    }
    let ack: OutboxAck
    switch item.action {
    case .put(let draft): ack = try put(draft, place, item)
    case .delete: ack = try delete(place, item)
    case .nothing: ack = OutboxAck(.done, reason: "it was never sent")
    case .prompt: return nil
    }
    return try file.answer(item, ack)
  }

  /// Whether only a page was answered, while the server is there: others may be sent then.
  public var isServerThereBehindPage: Bool { records.isThereBehindPage }

  // MARK: - Records

  /// What is there now; nil for nothing, which is believed only of a server of the protocol: what
  /// stands before it has no records at all.
  private func there(_ place: RecordPlace) throws(Failure) -> CopiedRecord? {
    let uri = ATURI(try records.repository(), place.collection, place.key)
    var row = try records.get(uri)
    if row == nil {
      try records.requireServer()
      row = try records.get(uri)
    }
    guard let row else {
      copies.note(place, nil)
      return nil
    }
    guard let found = CopiedRecord(row: row, time: .now()) else {
      throw Failure(uri.description, "the server's answer has no record", .failure)
    }
    copies.note(place, found)
    return found
  }

  private func put(
    _ draft: RecordDraft, _ place: RecordPlace, _ item: OutboxItem
  ) throws(Failure) -> OutboxAck {
    var swap = item.change.base
    var (sent, isMerged) = (draft, false)
    var conflicts: [[UInt8]] = []
    // A server may ignore that nothing is to be there, and what was sent is perhaps there.
    var isLookedFirst = swap == .any || !item.sent.isEmpty
    var rounds = 0
    while true {
      var refusal: String?
      if !isLookedFirst {
        try file.noteSending(item, sent.cid, conflicts)
        switch try records.put(sent, place.collection, place.key, swap: swap) {
        case .done(let row):
          copies.note(place, sent, row)
          var ack = OutboxAck(isMerged ? .merged : .done, cid: sent.cid, conflicts: conflicts)
          ack.row = row
          return ack
        case .altered(let reason):
          return conflict(reason, draft, try there(place))
        case .refused(let reason, _): refusal = reason
        case .conflict: break
        }
        rounds += 1
      }
      isLookedFirst = false
      let theirs = try there(place)
      // Not every server says of a conflict that it is one.
      if let refusal, swap == theirs.map({ .cid($0.cid) }) ?? .absent {
        return OutboxAck(.dropped, reason: refusal)
      }
      if rounds > Self.mostRounds {
        return conflict("changed by others \(rounds) times", draft, theirs)
      }
      guard let theirs else {
        if let ack = onDeletion(draft, item) { return ack }
        (swap, sent, isMerged, conflicts) = (.absent, draft, false, [])
        continue
      }
      swap = .cid(theirs.cid)
      // It was to be gone in between: nothing of it is to come back.
      if item.isRenewed, isExpected(theirs, item) {
        (sent, isMerged, conflicts) = (draft, false, [])
        if draft.cid == theirs.cid { return OutboxAck(.done, cid: draft.cid) }
        continue
      }
      let merge: ThreeWayMerge
      (merge, conflicts) = merged(draft, item, theirs)
      guard let next = try? RecordDraft(merge.record, for: place.collection) else {
        return conflict("it cannot be merged with what is there", draft, theirs)
      }
      (sent, isMerged) = (next, next.cid != draft.cid || !conflicts.isEmpty)
      if next.cid == theirs.cid {
        var ack = OutboxAck(isMerged ? .merged : .done, cid: next.cid, conflicts: conflicts)
        let isOwn = item.sent.contains { $0.cid == theirs.cid }
        ack.isLost = !isOwn && !merge.conflicts.isEmpty
        return ack
      }
    }
  }

  /// Whether what is there is what the person knew, for all that is known.
  private func isExpected(_ theirs: CopiedRecord, _ item: OutboxItem) -> Bool {
    item.change.base == .any || item.change.base == .cid(theirs.cid)
      || item.sent.contains { $0.cid == theirs.cid }
  }

  private func merged(
    _ draft: RecordDraft, _ item: OutboxItem, _ theirs: CopiedRecord
  ) -> (ThreeWayMerge, [[UInt8]]) {
    let own = item.sent.last { $0.cid == theirs.cid }
    var was = own?.record ?? item.change.was
    if own == nil, case .cid(let base) = item.change.base, base == theirs.cid { was = theirs.value }
    let merge = ThreeWayMerge(was: was, ours: draft.bytes, theirs: theirs.value)
    return (merge, (own?.conflicts ?? []) + merge.conflicts)
  }

  /// Nothing is there: nil when the record is to be written all the same.
  private func onDeletion(_ draft: RecordDraft, _ item: OutboxItem) -> OutboxAck? {
    if item.isRenewed { return nil }
    guard case .cid = item.change.base else { return nil }
    guard let was = item.change.was else {
      return conflict("deleted by others", draft, nil)
    }
    if ThreeWayMerge.outlivesDeletion(was: was, ours: draft.bytes) { return nil }
    return OutboxAck(.dropped, reason: "deleted")
  }

  private func conflict(
    _ reason: String, _ draft: RecordDraft, _ theirs: CopiedRecord?
  ) -> OutboxAck {
    var ack = OutboxAck(.conflict, cid: theirs?.cid, reason: reason)
    (ack.ours, ack.theirs) = (draft.bytes, theirs?.value)
    return ack
  }

  private func delete(_ place: RecordPlace, _ item: OutboxItem) throws(Failure) -> OutboxAck {
    var swap = item.change.base
    let base = item.change.base
    var isLookedFirst = base == .absent || base == .any || !item.sent.isEmpty
    var answer: [UInt8]?
    for _ in 0...Self.mostRounds {
      var refusal: String?
      if !isLookedFirst {
        try file.noteSending(item)
        switch try records.delete(place.collection, place.key, swap: swap) {
        case .done(let row):
          answer = row
          // Without one the server only said that nothing is there.
          if ScanMembers.copy(of: "commit", in: row) != nil {
            copies.note(place, nil)
            return gone(answer)
          }
        case .refused(let reason, _), .altered(let reason): refusal = reason
        case .conflict: break
        }
      }
      isLookedFirst = false
      guard let theirs = try there(place) else { return gone(answer) }
      if let refusal, swap == .cid(theirs.cid) {
        return OutboxAck(.dropped, cid: theirs.cid, reason: refusal)
      }
      let isOwn = item.sent.contains { $0.cid == theirs.cid }
      if base != .cid(theirs.cid) && !isOwn {
        // Without a base it may be another one than whoever deletes it had seen.
        let reason = base == .any ? "nothing tells what was to be deleted" : "changed"
        return OutboxAck(.dropped, cid: theirs.cid, reason: reason)
      }
      swap = .cid(theirs.cid)
    }
    return OutboxAck(.dropped, reason: "changed")
  }

  private func gone(_ answer: [UInt8]?) -> OutboxAck {
    var ack = OutboxAck(.done)
    ack.row = answer
    return ack
  }
}

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
