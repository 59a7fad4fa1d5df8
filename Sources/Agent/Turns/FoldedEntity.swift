import Core
public import Records

/// Something that a fold knows, for those who write it: what became of it since they did.
public protocol FoldedEntity: AnyObject {
  /// What is to be told of it.
  var marks: FoldMarks { get set }
  /// The record as it is now.
  var entity: ConversationRecord { get }
  /// The conversation that it is of, and the turn; nil where it is of none.
  var place: (thread: String?, turn: String?) { get }
  var isEnded: Bool { get }
  /// How many bytes its texts that grow have.
  var textSize: Int { get }
  /// Writes the record as it is now, with a LF.
  func write(with pen: RecordPen)
}

/// What is to be told of an entity.
public struct FoldMarks {
  /// Whether more changed since it was told than that a text grew.
  public internal(set) var hasNews = true
  /// `textSize` when it was told last; nil before the first time.
  public private(set) var toldSize: Int?
  /// Whether it takes back what was told under an id that is no more.
  public internal(set) var isWithdrawal = false
  /// For those who tell it: whether it is on their list.
  public var isWaiting = false
  var isChanged = false
  var isLeaving = false
  /// The line that it came in, as long as that says all.
  var original: [UInt8]?

  /// It was told as it is now.
  public mutating func tell(size: Int) {
    hasNews = false
    toldSize = size
  }

  /// Whether it was not on the list of what changed.
  mutating func note(isGrowth: Bool) -> Bool {
    if !isGrowth { hasNews = true }
    if original != nil { original = nil }
    if isChanged { return false }
    isChanged = true
    return true
  }

  /// Nothing was told of it under the id that it has now.
  mutating func beginAnew() {
    hasNews = true
    toldSize = nil
  }

  /// As it was told before, under another id.
  mutating func inherit(_ other: FoldMarks) { toldSize = other.toldSize }
}

final class FoldedThread: FoldedEntity {
  var marks = FoldMarks()
  var record: ThreadRecord

  init(_ record: ThreadRecord) { self.record = record }

  var entity: ConversationRecord { .thread(record) }
  var place: (thread: String?, turn: String?) { (record.id, nil) }
  var isEnded: Bool { record.state == .archived }
  var textSize: Int { 0 }

  func write(with pen: RecordPen) { pen.add(marks.original ?? record.line) }
}

final class FoldedApproval: FoldedEntity {
  var marks = FoldMarks()
  var record: ApprovalRecord

  init(_ record: ApprovalRecord) { self.record = record }

  var entity: ConversationRecord { .approval(record) }
  var place: (thread: String?, turn: String?) { (record.thread, record.turn) }
  var isEnded: Bool { record.state.isEnd }
  var textSize: Int { 0 }

  func write(with pen: RecordPen) { pen.add(marks.original ?? record.line) }
}

final class FoldedMessage: FoldedEntity {
  var marks = FoldMarks()
  /// Its text is `text`.
  var record: MessageRecord
  var stateID: String
  let text = GrowingText()
  let created: Timestamp?
  /// Whether it is told as a record; others are of the state alone.
  let isRecord: Bool
  private var skeleton: RecordSkeleton?

  init(_ record: MessageRecord, isRecord: Bool = true) {
    self.record = record
    self.record.text = ""
    stateID = record.id
    self.isRecord = isRecord
    created = record.time
    text.set(record.text)
  }

  var entity: ConversationRecord {
    var record = record
    record.text = text.text
    return .message(record)
  }
  var place: (thread: String?, turn: String?) { (record.thread, record.turn) }
  var isEnded: Bool { record.state.isEnd }
  var textSize: Int { text.count }

  func write(with pen: RecordPen) {
    if let original = marks.original { return pen.add(original) }
    if marks.hasNews || skeleton == nil {
      var bare = record
      bare.time = nil
      skeleton = RecordSkeleton(bare.bytes, holes: ["text"])
    }
    skeleton?.write([text], time: record.time, with: pen)
  }
}
