public import Core
import Records

/// What is to be done about one record, or one thing to be said: the entries of an outbox folded
/// (Agent/Outbox/CONTRACT.md 2).
public struct OutboxItem: Sendable {
  /// What is to be done.
  public enum Action: Sendable {
    /// A record is to be there.
    case put(RecordDraft)
    /// A record is to be gone.
    case delete
    /// What was to be written is deleted again, and was never sent.
    case nothing
    /// An agent is to be told something.
    case prompt(text: String, thread: String?)
  }

  /// Something that was sent, and perhaps is there.
  public struct Sent: Sendable {
    /// What a server calls it; nil for a deletion.
    public let cid: CID?
    /// The record that the person wanted then; `cid` may be that of a merge of it.
    public let record: [UInt8]?
    /// What lost in that merge.
    public let conflicts: [[UInt8]]
  }

  /// Of the entries that it consists of, oldest first.
  public let ids: [TID]
  /// When the first of them was written.
  public let time: Timestamp
  /// The record; nil for a prompt.
  public let place: RecordPlace?
  public let action: Action
  /// What the first change was made from; `any` where that is not known.
  public var base = RecordSwap.any
  /// The content of the base, where it is known.
  public var was: [UInt8]?
  /// Whether the record was to be deleted in between.
  public var isRenewed = false
  /// What was sent of it, and not answered.
  public var sent: [Sent] = []
  /// Whether it waits for a person, because it is old.
  public var isHeld = false
  /// The answer, and when it came; nil while it waits.
  public var answer: (ack: OutboxAck, time: Timestamp)?

  init(ids: [TID], time: Timestamp, place: RecordPlace?, action: Action) {
    (self.ids, self.time, self.place, self.action) = (ids, time, place, action)
  }

  /// An entry by itself.
  public init(_ entry: OutboxEntry) {
    let action: Action =
      switch entry.change {
      case .put(_, let draft, _, _): .put(draft)
      case .delete: .delete
      case .prompt(let text, let thread): .prompt(text: text, thread: thread)
      }
    self.init(ids: [entry.id], time: entry.time, place: entry.change.place, action: action)
    switch entry.change {
    case .put(_, _, let swap, let content): (base, was) = (swap, content)
    case .delete(_, let swap): base = swap
    case .prompt: break
    }
  }

  /// How far it is.
  public var state: OutboxState {
    if let answer { return answer.ack.state }
    if isHeld { return .held }
    if case .prompt = action, !sent.isEmpty { return .unconfirmed }
    return .queued
  }

  /// What it is called: as its last entry.
  public var id: TID { ids[ids.count - 1] }

  /// The record `outbox_item` of agentutils-records(5), without the LF.
  public func record(_ profile: String) -> [UInt8] {
    var text = RecordText(.outboxItem).string("id", id.description).string("profile", profile)
      .string("op", op).string("state", state.rawValue)
    if let place { text = OutboxEntry.named(text, place, base) }
    switch action {
    case .put(let draft): text = text.json("record", bytes: draft.bytes)
    case .prompt(let words, let thread):
      text = text.string("text", words).string("thread", thread)
    case .delete, .nothing: break
    }
    let ack = answer?.ack
    let conflicts = ack?.conflicts ?? []
    return text.string("answer", ack?.answer).string("cid", ack?.cid?.description).string(
      "reason", ack?.reason
    )
    .list("conflicts", conflicts.isEmpty ? nil : conflicts)
    .json("theirs", bytes: ack?.theirs)
    .strings("covers", ids.count > 1 ? ids.dropLast().map(\.description) : nil)
    .time(answer?.time ?? time).bytes
  }

  /// The word of the file for what is done.
  public var op: String {
    switch action {
    case .put: "put"
    case .delete, .nothing: "delete"
    case .prompt: "prompt"
    }
  }
}
