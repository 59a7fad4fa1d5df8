public import Core
import Records

/// Which record a change is about.
public struct RecordPlace: Hashable, Sendable, CustomStringConvertible {
  /// Where.
  public let collection: NSID
  /// Under which key.
  public let key: RecordKey
  /// Whose it is, where nobody could say yet that it is the account's own; else nil.
  public let owner: Repository?

  public init(_ collection: NSID, _ key: RecordKey, of owner: Repository? = nil) {
    (self.collection, self.key, self.owner) = (collection, key, owner)
  }

  public var description: String { "\(collection)/\(key)" }
}

/// What is to happen to a record, or what an agent is to be told.
public struct OutboxChange: Sendable {
  /// What is to be done.
  public enum Action: Sendable {
    /// A record is to be there.
    case put(RecordDraft)
    /// A record is to be gone.
    case delete
    /// What was to be written is deleted again, and was never sent: of several changes together.
    case nothing
    /// An agent is to be told something.
    case prompt(text: String, thread: String?)
  }

  /// The record; nil for a prompt.
  public internal(set) var place: RecordPlace?
  public internal(set) var action: Action
  /// What it was made from; `any` where that is not known.
  public internal(set) var base = RecordSwap.any
  /// The content of the base, where it is known.
  public internal(set) var was: [UInt8]?

  public static func put(_ place: RecordPlace, _ draft: RecordDraft, base: RecordSwap) -> Self {
    Self(place: place, action: .put(draft), base: base)
  }

  public static func delete(_ place: RecordPlace, base: RecordSwap) -> Self {
    Self(place: place, action: .delete, base: base)
  }

  public static func prompt(text: String, thread: String?) -> Self {
    Self(action: .prompt(text: text, thread: thread))
  }

  /// A record that is to be there.
  ///
  /// - Throws: `Failure` for what cannot be a record.
  public static func put(
    _ place: RecordPlace, _ record: [UInt8], base: RecordSwap
  ) throws(Failure) -> Self {
    .put(place, try RecordDraft(record, for: place.collection), base: base)
  }
}

extension OutboxChange {
  /// Reads a change, as the file and people have it.
  ///
  /// - Parameter line: one JSON object with `op`.
  /// - Throws: `Failure`. An `op` that is none of these is one, too.
  public init(reading line: UnsafeRawBufferPointer) throws(Failure) {
    let fields = try OutboxFields(line)
    switch try fields.text("op") {
    case "put":
      let place = try fields.place()
      guard let record = fields.object("record") else { throw Failure("no record to put") }
      self = try .put(place, record, base: try fields.base())
      was = fields.object("was")
    case "delete": self = .delete(try fields.place(), base: try fields.base())
    case "prompt":
      guard let words = try fields.text("text"), !words.isEmpty else {
        throw Failure("a prompt without text")
      }
      self = .prompt(text: words, thread: try fields.text("thread"))
    case let op?: throw Failure("op is not put, delete or prompt: \(op.prefix(40))")
    case nil: throw Failure("no op")
    }
  }

  /// The same, with what it was made from as far as the copies know it.
  public func made(from copies: RecordCopies?) -> Self {
    guard let place, let copies, was == nil else { return self }
    var made = self
    let isPut = if case .put = action { true } else { false }
    if isPut, case .cid(let cid) = base {
      made.was = copies.content(of: place, cid)
    } else if base == .any, place.owner == nil, let copy = copies.record(place) {
      // The copies are of the account's own records.
      made.base = .cid(copy.cid)
      if isPut { made.was = copy.value }
    }
    return made
  }

  /// The word of the file for what is done.
  var op: String {
    switch action {
    case .put: "put"
    case .delete, .nothing: "delete"
    case .prompt: "prompt"
    }
  }

  /// Adds the members that say what is to be done.
  func add(to text: consuming RecordText) -> RecordText {
    var text = text
    if let place {
      text = text.string("repo", place.owner?.description)
        .string("collection", place.collection.description)
        .string("rkey", place.key.description)
      switch base {
      case .any: break
      case .absent: text = text.json("base", "null")
      case .cid(let cid): text = text.string("base", cid.description)
      }
    }
    switch action {
    case .put(let draft): return text.json("record", bytes: draft.bytes)
    case .prompt(let words, let thread):
      return text.string("text", words).string("thread", thread)
    case .delete, .nothing: return text
    }
  }
}

/// What is to be written: a line of the outbox that waits for its answer
/// (Agent/Outbox/CONTRACT.md 1).
public struct OutboxEntry: Sendable {
  /// Of the line; unique in the file.
  public let id: TID
  /// When it was written.
  public let time: Timestamp
  var change: OutboxChange

  var bytes: [UInt8] {
    let text = RecordText().string("id", id.description).string("op", change.op)
      .time(time, as: "at")
    return change.add(to: text).json("was", bytes: change.was).bytes
  }
}

/// What is to be done about one record, or one thing to be said: the entries of an outbox folded
/// (Agent/Outbox/CONTRACT.md 2).
public struct OutboxItem: Sendable {
  /// Something that was sent, and perhaps is there.
  struct Sent {
    /// What a server calls it; nil for a deletion.
    var cid: CID?
    /// The record that the person wanted then; `cid` may be that of a merge of it.
    var record: [UInt8]?
    /// What lost in that merge.
    var conflicts: [[UInt8]] = []
  }

  /// Of the entries that it consists of, oldest first.
  public let ids: [TID]
  /// When the first of them was written.
  public let time: Timestamp
  /// What they come to; its base is that of the first.
  let change: OutboxChange
  /// Whether the record was to be deleted in between.
  var isRenewed = false
  /// What was sent of it, and not answered.
  var sent: [Sent] = []
  /// Whether it waits for a person, because it is old.
  public var isHeld = false
  /// The answer, and when it came; nil while it waits.
  public var answer: (ack: OutboxAck, time: Timestamp)?

  /// An entry by itself.
  public init(_ entry: OutboxEntry) {
    self.init([entry], entry.change)
  }

  init(_ entries: [OutboxEntry], _ change: OutboxChange) {
    (ids, time, self.change) = (entries.map(\.id), entries[0].time, change)
  }

  /// The record; nil for a prompt.
  public var place: RecordPlace? { change.place }
  public var action: OutboxChange.Action { change.action }
  /// Whether it was perhaps said or written.
  public var wasSent: Bool { !sent.isEmpty }

  /// How far it is.
  public var state: OutboxState {
    if let answer { return answer.ack.state }
    if isHeld { return .held }
    if case .prompt = action, wasSent { return .unconfirmed }
    return .queued
  }

  /// What it is called: as its last entry.
  public var id: TID { ids[ids.count - 1] }

  /// The record `outbox_item` of agentutils-records(5), without the LF.
  public func record(_ profile: String) -> [UInt8] {
    let head = RecordText(.outboxItem).string("id", id.description).string("profile", profile)
      .string("op", change.op).string("state", state.rawValue)
    let ack = answer?.ack
    let conflicts = ack?.conflicts ?? []
    return change.add(to: head).string("answer", ack?.answer)
      .string("cid", ack?.cid?.description).string("reason", ack?.reason)
      .list("conflicts", conflicts.isEmpty ? nil : conflicts)
      .json("theirs", bytes: ack?.theirs)
      .strings("covers", ids.count > 1 ? ids.dropLast().map(\.description) : nil)
      .time(answer?.time ?? time).bytes
  }
}

/// How far an item of the outbox is.
public enum OutboxState: String, CaseIterable, Sendable {
  /// It waits.
  case queued
  /// It was sent, and is there.
  case done
  /// Somebody else changed the record, too, and both changes are there.
  case merged
  /// Somebody else changed it again and again, or in a way that cannot be merged: nothing was
  /// written, and both are kept.
  case conflict
  /// It was given up, by a rule, by the server or by a person.
  case dropped
  /// It was perhaps said, and nobody answered.
  case unconfirmed
  /// It is to be said, but so old that a person is to say yes first.
  case held

  /// Whether nothing more happens by itself.
  public var isEnd: Bool { ![.queued, .unconfirmed, .held].contains(self) }
}

/// The answer to one or more entries: what became of them.
public struct OutboxAck: Sendable {
  /// How it ended.
  public var state: OutboxState
  /// What is there now; nil for nothing, and where it does not matter.
  public var cid: CID?
  /// Why, lower case.
  public var reason: String?
  /// What lost in a merge, one JSON object each.
  public var conflicts: [[UInt8]] = []
  /// Of a conflict: what was to be written, and what is there, JSON objects.
  public var ours: [UInt8]?
  public var theirs: [UInt8]?
  /// What the server said, one JSON object; not kept.
  public var row: [UInt8]?
  /// What the agent said to it; not kept.
  public var answer: String?
  /// Whether a merge left nothing of the change, as somebody else's stands; not kept.
  public var isLost = false
  /// Whether a person gave it up.
  public var isByHand = false

  public init(
    _ state: OutboxState, cid: CID? = nil, reason: String? = nil, conflicts: [[UInt8]] = []
  ) {
    (self.state, self.cid, self.reason, self.conflicts) = (state, cid, reason, conflicts)
  }

  /// Whether what was to happen has happened, if with what others made of it.
  public var isMade: Bool { state == .done || state == .merged && !isLost }

  /// Whether a person is to see it, until it is dropped by hand.
  var isNews: Bool {
    switch state {
    case .conflict: true
    case .dropped: !isByHand
    case .merged: !conflicts.isEmpty
    case .done, .queued, .unconfirmed, .held: false
    }
  }

  func bytes(_ ids: [TID], _ time: Timestamp) -> [UInt8] {
    OutboxLine.about(ids, op: "ack", time).string("state", state.rawValue)
      .string("cid", cid?.description).string("reason", reason)
      .list("conflicts", conflicts.isEmpty ? nil : conflicts)
      .json("ours", bytes: ours).json("theirs", bytes: theirs)
      .string("by", isByHand ? "hand" : nil).bytes
  }
}

/// A line of the file (Agent/Outbox/CONTRACT.md 1).
enum OutboxLine {
  case entry(OutboxEntry)
  /// Something is sent now: from here on it may be there. The CID is that of what is sent; of a
  /// deletion that of what is to be gone, where the entry does not say that; nil for any other
  /// deletion and for a prompt. The conflicts are what lost in the merge that made it.
  case sending(CID?, conflicts: [[UInt8]], ids: [TID])
  case ack(OutboxAck, ids: [TID], Timestamp)
  /// Of another version, left alone.
  case other

  init(_ line: UnsafeRawBufferPointer) throws(Failure) {
    let fields = try OutboxFields(line)
    guard let op = try fields.text("op") else { throw Failure("no op") }
    guard ["put", "delete", "prompt", "sending", "ack"].contains(op) else {
      self = .other
      return
    }
    guard let id = try fields.text("id").flatMap({ TID($0) }) else {
      throw Failure("no id")
    }
    guard let time = try fields.text("at").flatMap({ Timestamp(rfc3339: $0) }) else {
      throw Failure("at is not a time")
    }
    if op != "sending", op != "ack" {
      self = .entry(OutboxEntry(id: id, time: time, change: try OutboxChange(reading: line)))
      return
    }
    let ids = fields.elements("covers").compactMap { Self.text($0).flatMap { TID($0) } } + [id]
    let cid = try fields.text("cid").flatMap { CID($0) }
    let conflicts = fields.elements("conflicts")
    if op == "sending" {
      self = .sending(cid, conflicts: conflicts, ids: ids)
      return
    }
    guard let state = try fields.text("state").flatMap({ OutboxState(rawValue: $0) }), state.isEnd
    else {
      self = .other
      return
    }
    var ack = OutboxAck(
      state, cid: cid, reason: try fields.text("reason"), conflicts: conflicts)
    (ack.ours, ack.theirs) = (fields.object("ours"), fields.object("theirs"))
    ack.isByHand = try fields.text("by") == "hand"
    self = .ack(ack, ids: ids, time)
  }

  /// The text of a value that is a string.
  static func text(_ value: [UInt8]?) -> String? {
    value?.withUnsafeBytes { bytes in
      let value = ScanValue(bytes)
      return value.isString ? value.string : nil
    }
  }

  static func sending(
    _ cid: CID?, conflicts: [[UInt8]] = [], _ ids: [TID], _ time: Timestamp
  ) -> [UInt8] {
    about(ids, op: "sending", time).string("cid", cid?.description)
      .list("conflicts", conflicts.isEmpty ? nil : conflicts).bytes
  }

  static func about(_ ids: [TID], op: String, _ time: Timestamp) -> RecordText {
    let covers = ids.dropLast().map(\.description)
    return RecordText().string("id", ids.last?.description).string("op", op).time(time, as: "at")
      .strings("covers", covers.isEmpty ? nil : covers)
  }
}

/// The members of one JSON object.
struct OutboxFields {
  private let line: UnsafeRawBufferPointer

  init(_ line: UnsafeRawBufferPointer) throws(Failure) {
    try RecordDraft.checkText(line)
    guard line.first == UInt8(ascii: "{") else { throw Failure("not an object") }
    self.line = line
  }

  private func value(_ name: String) -> ScanValue {
    (try? ScanMembers.value(of: name, in: line)) ?? .absent
  }

  func object(_ name: String) -> [UInt8]? {
    let value = value(name)
    return value.isObject ? Array(value.bytes) : nil
  }

  func text(_ name: String) throws(Failure) -> String? {
    let value = value(name)
    if value.isNull { return nil }
    guard value.isString, let text = value.string else { throw Failure("\(name) is not a string") }
    return text
  }

  func elements(_ name: String) -> [[UInt8]] { Answer.elements(Array(value(name).bytes)) ?? [] }

  /// `collection` and `rkey`, and `repo` where somebody has yet to say whose that is.
  func place() throws(Failure) -> RecordPlace {
    guard let collection = try text("collection").flatMap({ NSID($0) }) else {
      throw Failure("collection is not the name of a collection")
    }
    guard let key = try text("rkey").flatMap({ RecordKey($0) }) else {
      throw Failure("rkey is not a record key")
    }
    let name = try text("repo")
    let owner = name.flatMap { Repository($0) }
    if owner == nil, name != nil { throw Failure("repo is neither a DID nor a handle") }
    return RecordPlace(collection, key, of: owner)
  }

  /// `base`: missing where it is not known, null where there was none.
  func base() throws(Failure) -> RecordSwap {
    let value = value("base")
    if value.isNull { return value.isAbsent ? .any : .absent }
    guard value.isString, let cid = value.string.flatMap({ CID($0) }) else {
      throw Failure("base is neither a CID nor null")
    }
    return .cid(cid)
  }
}
