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

/// Said before something is sent: from here on it may be there.
public struct OutboxAttempt: Sendable {
  /// What was sent; of a deletion what is to be gone, where the entry does not say that; nil
  /// for any other deletion and for a prompt.
  public var cid: CID?
  /// What lost in the merge that made it, one JSON object each.
  public var conflicts: [[UInt8]]

  public init(cid: CID? = nil, conflicts: [[UInt8]] = []) {
    (self.cid, self.conflicts) = (cid, conflicts)
  }

  func bytes(_ ids: [TID], _ time: Timestamp) -> [UInt8] {
    OutboxLine.about(ids, op: "sending", time).string("cid", cid?.description)
      .list("conflicts", conflicts.isEmpty ? nil : conflicts).bytes
  }
}

enum OutboxLine {
  case entry(OutboxEntry)
  case sending(OutboxAttempt, ids: [TID])
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
    let ids = fields.texts("covers").compactMap { TID($0) } + [id]
    switch op {
    case "sending":
      self = .sending(
        OutboxAttempt(
          cid: try fields.text("cid").flatMap { CID($0) }, conflicts: fields.elements("conflicts")),
        ids: ids)
    case "ack":
      guard let state = try fields.text("state").flatMap({ OutboxState(rawValue: $0) }),
        state.isEnd
      else {
        self = .other
        return
      }
      var ack = OutboxAck(
        state, cid: try fields.text("cid").flatMap { CID($0) }, reason: try fields.text("reason"),
        conflicts: fields.elements("conflicts"))
      ack.ours = fields.object("ours").map { Array($0.bytes) }
      ack.theirs = fields.object("theirs").map { Array($0.bytes) }
      ack.isByHand = try fields.text("by") == "hand"
      self = .ack(ack, ids: ids, time)
    default:
      self = .entry(
        OutboxEntry(id: id, time: time, try OutboxEntry.Change(reading: line)))
    }
  }

  static func about(_ ids: [TID], op: String, _ time: Timestamp) -> RecordText {
    let covers = ids.dropLast().map(\.description)
    return RecordText().string("id", ids.last?.description).string("op", op).time(time, as: "at")
      .strings("covers", covers.isEmpty ? nil : covers)
  }
}
