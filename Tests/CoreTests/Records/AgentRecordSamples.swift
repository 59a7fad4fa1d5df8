import Core
import Records
import Testing

/// A record with nothing but what it must have, the same with all that it may have, and
/// the words that its members choose from.
struct AgentRecordSample: CustomTestStringConvertible {
  let least: any AgentRecord
  let most: any AgentRecord
  let words: [String: [String]]

  var type: RecordType { Swift.type(of: most).type }
  var testDescription: String { type.rawValue }

  private init<Record: AgentRecord>(
    _ record: Record, words: [String: [String]], _ fill: (inout Record) -> Void
  ) {
    var most = record
    most.origin = RecordOrigin(.claudio, profile: "p\u{1b}")
    most.time = Timestamp(seconds: 1)
    fill(&most)
    least = record
    self.most = most
    self.words = words
  }

  static let all = [thread, message, turn, toolCall, approval, answer, task, notification]

  private static let origin = RecordOrigin(.openclaw)
  private static let time = Timestamp(seconds: 60)

  private static func words<Word: CaseIterable & RawRepresentable<String>>(
    _ type: Word.Type
  ) -> [String] { type.allCases.map(\.rawValue) }

  private static let thread = AgentRecordSample(
    ThreadRecord(origin, id: "t", time: nil), words: ["state": words(ThreadRecord.State.self)]
  ) {
    ($0.title, $0.state, $0.agent, $0.participants) = ("T", .active, "a", ["a", "\"b\""])
    ($0.messages, $0.last) = (2, time)
  }

  private static let message = AgentRecordSample(
    MessageRecord(
      origin, id: "m", thread: "t", role: .assistant, text: "hello\n", state: .partial, time: nil),
    words: [
      "role": words(MessageRecord.Role.self), "state": words(MessageRecord.State.self),
    ]
  ) {
    ($0.turn, $0.author, $0.reason, $0.isInferred) = ("u", "Fig", "r", true)
    $0.attachments = [
      MessageRecord.Attachment(name: "a.png", mediaType: "image/png", size: 3, url: "https://u"),
      MessageRecord.Attachment(),
    ]
  }

  private static let turn = AgentRecordSample(
    TurnRecord(origin, id: "u", thread: "t", state: .queued, time: nil),
    words: ["state": words(TurnRecord.State.self)]
  ) {
    ($0.parent, $0.toolCall, $0.isInferred) = ("v", "c", false)
    ($0.agent, $0.reason, $0.message, $0.cost) = ("a", "r", "m", 0.1)
    $0.usage = TurnRecord.Usage(inputTokens: 7, outputTokens: nil)
    ($0.started, $0.ended, $0.milliseconds) = (time, time, 12)
  }

  private static let toolCall = AgentRecordSample(
    ToolCallRecord(origin, id: "c", thread: "t", tool: "bash", state: .planned, time: nil),
    words: ["state": words(ToolCallRecord.State.self)]
  ) {
    ($0.turn, $0.label, $0.reason, $0.approval) = ("u", "l", "r", "p")
    $0.arguments = Array("{\"n\":1.10,\n \"n\":2}".utf8)
    ($0.stdout, $0.stderr, $0.exitCode, $0.milliseconds) = ("o", "", -1, 12)
    ($0.isTruncated, $0.started, $0.ended, $0.isInferred) = (false, time, time, true)
  }

  private static let approval = AgentRecordSample(
    ApprovalRecord(
      origin, id: "p", tool: "exec", request: Array(#"{"command":"rm -r x"}"#.utf8),
      decisions: ["allow-once", "deny"], state: .pending, time: nil),
    words: ["state": words(ApprovalRecord.State.self)]
  ) {
    ($0.thread, $0.turn, $0.toolCall, $0.risk, $0.summary) = ("t", "u", "c", "HIGH", "s")
    ($0.decision, $0.by, $0.reason, $0.expires) = ("deny", "ada", "r", time)
  }

  private static let answer = AgentRecordSample(
    ApprovalAnswer(origin, id: "p", decision: "deny", result: .late, time: nil),
    words: ["result": words(ApprovalAnswer.Result.self)]
  ) { $0.reason = "r" }

  private static let task = AgentRecordSample(
    TaskRecord(origin, id: "k", title: "T", state: .open, kind: .schedule, time: nil),
    words: ["state": words(TaskRecord.State.self), "kind": words(TaskRecord.Kind.self)]
  ) {
    ($0.priority, $0.project, $0.due, $0.assignee) = (1, "p", "2026-03-14", "ada")
    ($0.labels, $0.notes, $0.thread) = ([], "n", "t")
    ($0.next, $0.last) = (time, time)
  }

  private static let notification = AgentRecordSample(
    NotificationRecord(
      origin, id: "n", urgency: .urgent, category: "system", title: "T", time: nil),
    words: ["urgency": words(NotificationRecord.Urgency.self)]
  ) {
    ($0.text, $0.thread) = ("x", "t")
    $0.about = NotificationRecord.Subject(type: "task", id: "k")
  }
}
