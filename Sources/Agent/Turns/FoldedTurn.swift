import Core
import Records

/// A turn.
final class FoldedTurn: FoldedEntity {
  var marks = FoldMarks()
  var record: TurnRecord
  /// Which one it is of its thread.
  let order: Int
  /// Why it failed, in the backend's words.
  var failure = ""
  /// The message that was committed last.
  var answer: String?
  /// What the agent thought, and whether it still does. Only where all is kept.
  let thinking = GrowingText()
  var isThinking = false
  /// What it used, in order.
  var calls: [FoldedCall] = []
  /// What was said in it.
  var messages: [FoldedMessage] = []
  /// When it first meant to use a tool.
  var firstCall: Timestamp?

  init(_ record: TurnRecord, order: Int) {
    self.record = record
    self.order = order
  }

  var id: String { record.id }
  var entity: TurnEntity { .turn(record) }
  var place: (thread: String?, turn: String?) { (record.thread, record.id) }
  var isEnded: Bool { record.state.isEnd }
  var textSize: Int { 0 }

  func write(with pen: RecordPen) { pen.add(marks.original ?? record.line) }
}

/// A call of a tool.
final class FoldedCall: FoldedEntity {
  var marks = FoldMarks()
  /// Its outputs are those of the last execution.
  var record: ToolCallRecord
  /// How far it is: an end that was told stays in the record, a call that runs once more
  /// turns back here.
  var state: ToolCallRecord.State
  /// The turn that it stands in; nil where none is known.
  let turn: FoldedTurn?
  /// What it was called with, in a few words for people.
  var preview: String?
  /// The runs of the tool, in order.
  var executions: [FoldedExecution] = []
  private var skeleton: RecordSkeleton?

  init(_ record: ToolCallRecord, turn: FoldedTurn?) {
    self.record = record
    self.turn = turn
    state = record.state
  }

  var id: String { record.id }

  var entity: TurnEntity {
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

/// One run of a tool.
final class FoldedExecution {
  let id: String
  /// What it printed so far.
  let stdout = GrowingText()
  /// What it printed as errors so far.
  let stderr = GrowingText()
  var exitCode: Int?
  var milliseconds: Int?
  var isRunning = true
  var isTruncated = false
  var isTimedOut = false

  init(_ id: String) { self.id = id }
}
