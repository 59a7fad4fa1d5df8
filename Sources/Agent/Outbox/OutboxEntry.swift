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
