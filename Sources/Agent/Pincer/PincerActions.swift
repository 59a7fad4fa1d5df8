import Core
import Records
import Turns

/// The actions of a thread as its events tell them (Agent/Pincer/CONTRACT.md 4.1), for where the
/// lists of them cannot be read (3.4). No network, no clock.
struct PincerActions {
  private let origin: RecordOrigin
  private let thread: String
  private let job: String?
  private(set) var records: [ApprovalRecord] = []
  /// Calls that did not run yet and were not proposed: the event that proposes one may be lost.
  private var planned: [(turn: String, record: ApprovalRecord)] = []

  /// `job`: whose thread it is; nil for that of a chat.
  init(_ origin: RecordOrigin, thread: String, job: String? = nil) {
    (self.origin, self.thread, self.job) = (origin, thread, job)
  }

  mutating func receive(_ event: JSONValue) {
    let turn = event.pincerText("turnId")
    let time = event.pincerTime("occurredAt")
    if let call = event.pincer("toolCallPlanned") {
      let id = call.pincerText("toolCallId")
      guard !id.isEmpty, !planned.contains(where: { $0.record.id == id }) else { return }
      var record = record(id, tool: call.pincerText("toolName"), call, preview: "args", time)
      record.turn = event.pincerWord("turnId")
      planned.append((turn, record))
    } else if let action = event.pincer("proposedActionCreated") {
      guard let id = action.pincerWord("actionId") else { return }
      var record = record(id, tool: action.pincerText("tool"), action, preview: "preview", time)
      record.turn = event.pincerWord("turnId")
      record.toolCall = id
      record.summary = action.pincerWord("deterministicSummary")
      record.expires = action.pincerTime("expiresAt")
      add(record)
    } else if let start = event.pincer("toolExecutionStarted") {
      planned.removeAll { $0.record.id == start.pincerText("toolCallId") }
    } else if let pause = event.pincer("turnPaused") {
      propose(turn, most: Int(clamping: pause.pincerNumber("pendingActionCount") ?? 0))
    } else if let change = event.pincer("proposedActionStatusChanged") {
      decide(change, time)
    } else if event.pincer("turnCompleted") != nil || event.pincer("turnFailed") != nil {
      planned.removeAll { $0.turn == turn }
    }
  }

  private func record(
    _ id: String, tool: String, _ value: JSONValue, preview: String, _ time: Timestamp?
  ) -> ApprovalRecord {
    let text = Array((value.pincer(preview)?.compact() ?? "{}").utf8)
    var record = text.withUnsafeBytes { bytes in
      PincerApproval.record(
        origin, id: id, tool: tool, risk: value.pincerEnum("riskClass", PincerApproval.risks),
        preview: ScanValue(bytes), job: job, time: time)
    }
    record.thread = thread
    return record
  }

  private mutating func add(_ record: ApprovalRecord) {
    planned.removeAll { $0.record.id == record.id }
    if !records.contains(where: { $0.id == record.id }) { records.append(record) }
  }

  /// The pause counts the actions whose proposals are lost, too.
  private mutating func propose(_ turn: String, most: Int) {
    let told = records.count { $0.turn == turn && $0.state == .pending }
    for call in planned.filter({ $0.turn == turn }).prefix(max(most - told, 0)) {
      add(call.record)
    }
  }

  private mutating func decide(_ change: JSONValue, _ time: Timestamp?) {
    let id = change.pincerText("actionId")
    if let call = planned.first(where: { $0.record.id == id }) { add(call.record) }
    guard let index = records.firstIndex(where: { $0.id == id }) else { return }
    PincerAction.decide(
      &records[index], change.pincerEnum("status", PincerApproval.states) ?? "PENDING",
      reason: change.pincerText("reason"))
    records[index].time = time ?? records[index].time
  }
}
