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

final class FoldedTurn: FoldedEntity {
  var marks = FoldMarks()
  var record: TurnRecord
  let order: Int
  var failure = ""
  var answer: String?
  /// What the agent thought, and whether it still does. Only where all is kept.
  let thinking = GrowingText()
  var isThinking = false
  var calls: [FoldedCall] = []
  var messages: [FoldedMessage] = []
  var firstCall: Timestamp?
  /// What a person was asked or has allowed, and what did not run yet.
  var openActions: Set<String> = []
  /// What events say where the record says another thing: an end while actions are open is not
  /// told, and one that was told stays.
  var apart: (state: TurnRecord.State, ended: Timestamp?)?

  init(_ record: TurnRecord, order: Int) {
    self.record = record
    self.order = order
  }

  var id: String { record.id }
  var entity: ConversationRecord { .turn(record) }
  var place: (thread: String?, turn: String?) { (record.thread, record.id) }
  var state: TurnRecord.State { apart?.state ?? record.state }
  var isEnded: Bool { record.state.isEnd }
  var isOver: Bool { state.isEnd }
  /// Whether its end came while actions were open, so that it may go on.
  var isHeld: Bool { isOver && !isEnded }
  var textSize: Int { 0 }

  func write(with pen: RecordPen) { pen.add(marks.original ?? record.line) }
}

final class FoldedCall: FoldedEntity {
  var marks = FoldMarks()
  /// Its outputs are those of the last execution.
  var record: ToolCallRecord
  /// An end that was told stays in the record; a call that runs once more turns back here.
  var state: ToolCallRecord.State
  let turn: FoldedTurn?
  var preview: String?
  var executions: [FoldedExecution] = []
  private var skeleton: RecordSkeleton?

  init(_ record: ToolCallRecord, turn: FoldedTurn?) {
    self.record = record
    self.turn = turn
    state = record.state
  }

  var id: String { record.id }

  var entity: ConversationRecord {
    var record = record
    if let last = executions.last {
      record.stdout = last.stdout.count > 0 ? last.stdout.text : nil
      record.stderr = last.stderr.count > 0 ? last.stderr.text : nil
    }
    return .toolCall(record)
  }
  var place: (thread: String?, turn: String?) { (record.thread, record.turn) }
  var isEnded: Bool { record.state.isEnd }
  var textSize: Int { executions.last.map { $0.stdout.count + $0.stderr.count } ?? 0 }

  func write(with pen: RecordPen) {
    if let original = marks.original { return pen.add(original) }
    let (stdout, stderr) = (executions.last?.stdout, executions.last?.stderr)
    let texts = [stdout, stderr].compactMap { $0 }.filter { $0.count > 0 }
    if marks.hasNews || skeleton == nil {
      var bare = record
      bare.time = nil
      bare.stdout = texts.contains { $0 === stdout } ? "" : nil
      bare.stderr = texts.contains { $0 === stderr } ? "" : nil
      var holes: [String] = []
      if bare.stdout != nil { holes.append("stdout") }
      if bare.stderr != nil { holes.append("stderr") }
      skeleton = RecordSkeleton(bare.bytes, holes: holes)
    }
    skeleton?.write(texts, time: record.time, with: pen)
  }
}

final class FoldedExecution {
  let id: String
  let stdout = GrowingText()
  let stderr = GrowingText()
  var exitCode: Int?
  var milliseconds: Int?
  var isRunning = true
  var isTruncated = false
  var isTimedOut = false

  init(_ id: String) { self.id = id }
}

/// When what changed is told again. A text that grows would be told again with each of its pieces:
/// the longer it is, the rarer. Below `wholeSize` every change is told. Above, a text that only
/// grew is told again when it is an eighth longer, when anything else changes, or when nothing more
/// is to come for now: so what is told is linear to what came, and what is live has no delay.
public struct FoldPace {
  private var waiting: [any FoldedEntity] = []
  private var mostWaiting = 256

  /// Bytes of a text.
  private static let wholeSize = 4096

  public init() {}

  /// Whether something that changed is to be told now; else it waits for `rest`.
  public mutating func isDue(_ entity: any FoldedEntity) -> Bool {
    let size = entity.textSize
    let told = entity.marks.toldSize ?? 0
    if entity.marks.hasNews || size < Self.wholeSize || size - told >= told / 8 { return true }
    if entity.marks.isWaiting { return false }
    if waiting.count >= mostWaiting {
      waiting.removeAll { entity in
        if entity.isBehind { return false }
        entity.marks.isWaiting = false
        return true
      }
      mostWaiting = max(256, waiting.count * 2)
    }
    entity.marks.isWaiting = true
    waiting.append(entity)
    return false
  }

  /// Whether anything waits.
  public var isBehind: Bool { waiting.contains(where: \.isBehind) }

  /// All that waits, which is told now.
  public mutating func rest() -> [any FoldedEntity] {
    let rest = waiting
    waiting.removeAll(keepingCapacity: true)
    for entity in rest { entity.marks.isWaiting = false }
    return rest.filter(\.isBehind)
  }
}

extension FoldedEntity {
  fileprivate var isBehind: Bool { textSize != marks.toldSize }
}
