import Core
import Records

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
