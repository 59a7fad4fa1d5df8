import Core
import Records

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
