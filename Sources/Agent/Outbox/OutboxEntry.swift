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

  var own: RecordPlace { RecordPlace(collection, key) }

  public var description: String { "\(collection)/\(key)" }
}

/// What is to be written: a line of the outbox that waits for its answer
/// (Agent/Outbox/CONTRACT.md 1).
public struct OutboxEntry: Sendable {
  /// What is to happen.
  public enum Change: Sendable {
    /// A record is to be there. The base is what the change was made from: `any` where that is
    /// not known. `was` is the base's content, where that is known.
    case put(RecordPlace, RecordDraft, base: RecordSwap, was: [UInt8]?)
    /// A record is to be gone.
    case delete(RecordPlace, base: RecordSwap)
    /// An agent is to be told something.
    case prompt(text: String, thread: String?)

    /// The record; nil for a prompt.
    public var place: RecordPlace? {
      switch self {
      case .put(let place, _, _, _), .delete(let place, _): place
      case .prompt: nil
      }
    }

    func of(_ place: RecordPlace) -> Change {
      switch self {
      case .put(_, let draft, let base, let was): .put(place, draft, base: base, was: was)
      case .delete(_, let base): .delete(place, base: base)
      case .prompt: self
      }
    }
  }

  /// Of the line; unique in the file.
  public let id: TID
  /// When it was written.
  public let time: Timestamp
  public let change: Change

  public init(id: TID, time: Timestamp, _ change: Change) {
    (self.id, self.time, self.change) = (id, time, change)
  }

  var bytes: [UInt8] {
    let text = RecordText().string("id", id.description)
    switch change {
    case .put(let place, let draft, let base, let was):
      return Self.named(text.string("op", "put").time(time, as: "at"), place, base)
        .json("record", bytes: draft.bytes).json("was", bytes: was).bytes
    case .delete(let place, let base):
      return Self.named(text.string("op", "delete").time(time, as: "at"), place, base).bytes
    case .prompt(let words, let thread):
      return text.string("op", "prompt").time(time, as: "at").string("text", words)
        .string("thread", thread).bytes
    }
  }

  static func named(
    _ text: consuming RecordText, _ place: RecordPlace, _ base: RecordSwap
  ) -> RecordText {
    let text = text.string("repo", place.owner?.description)
      .string("collection", place.collection.description)
      .string("rkey", place.key.description)
    switch base {
    case .any: return text
    case .absent: return text.json("base", "null")
    case .cid(let cid): return text.string("base", cid.description)
    }
  }
}

extension OutboxEntry.Change {
  /// Reads a change, as the file and people have it.
  ///
  /// - Parameter line: one JSON object with `op`.
  /// - Throws: `Failure`. An `op` that is none of these is one, too.
  public init(reading line: UnsafeRawBufferPointer) throws(Failure) {
    let fields = try OutboxFields(line)
    switch try fields.text("op") {
    case "put":
      let place = try fields.place()
      guard let record = fields.object("record") else {
        throw Failure("no record to put")
      }
      let draft = try RecordDraft(record.bytes, for: place.collection, created: nil)
      let was = fields.object("was").map { Array($0.bytes) }
      self = .put(place, draft, base: try fields.base(), was: was)
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

  /// A record that is to be there.
  ///
  /// - Parameter base: what it was made from.
  /// - Throws: `Failure` for what cannot be a record.
  public static func put(
    _ place: RecordPlace, _ record: [UInt8], base: RecordSwap
  ) throws(Failure) -> Self {
    let draft = record.withUnsafeBytes { bytes in
      Result<RecordDraft, Failure> { () throws(Failure) in
        try RecordDraft(bytes, for: place.collection, created: nil)
      }
    }
    return .put(place, try draft.get(), base: base, was: nil)
  }

  /// The same, with what it was made from as far as the copies know it.
  public func made(from copies: RecordCopies?) -> Self {
    guard let place, let copies else { return self }
    if case .put(_, let draft, .cid(let cid), nil) = self {
      return .put(place, draft, base: .cid(cid), was: copies.content(of: place, cid))
    }
    // The copies are of the account's own records.
    guard place.owner == nil, let copy = copies.record(place) else { return self }
    let base = RecordSwap.cid(copy.cid)
    switch self {
    case .put(_, let draft, .any, nil): return .put(place, draft, base: base, was: copy.value)
    case .delete(_, .any): return .delete(place, base: base)
    default: return self
    }
  }
}
