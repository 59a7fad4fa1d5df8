import Core
import Records
import Turns

/// An action that waits for a person, as a Pincer server lists it
/// (Agent/Pincer/CONTRACT.md 3.3).
struct PincerAction {
  var record: ApprovalRecord
  /// The job whose it is; nil for one of a chat.
  let job: String?

  /// The reason of one that was rejected because its time was over.
  static let expired = "expired"
  private static let usualReason = "rejected_by_user"

  /// Nil for a row without an id.
  init?(_ row: [UInt8], asked: String, _ origin: RecordOrigin) {
    guard let value = try? JSONValue.parse(row) else { return nil }
    guard let id = value.pincerWord("actionId") else { return nil }
    // A source has several names; its id tells.
    let source = value.pincerText("sourceId")
    let job = source.hasPrefix("job_") ? source : nil
    self.job = job
    var record = row.withUnsafeBytes { bytes in
      PincerApproval.record(
        origin, id: id, tool: value.pincerText("tool"),
        risk: value.pincerEnum("riskClass", PincerApproval.risks),
        preview: (try? ScanMembers.value(of: "preview", in: bytes)) ?? .absent, job: job,
        time: value.pincerTime("createdAt"))
    }
    record.summary = value.pincerWord("deterministicSummary")
    if source.hasPrefix("thr_") { record.thread = source }
    if source.hasPrefix("turn_") { record.turn = source }
    record.expires = value.pincerTime("expiresAt")
    Self.decide(
      &record, value.pincerEnum("status", PincerApproval.states) ?? asked,
      reason: value.pincerText("rejectionReason"))
    self.record = record
  }

  static func decide(_ record: inout ApprovalRecord, _ status: String, reason: String) {
    switch status {
    case "APPROVED": (record.state, record.decision) = (.approved, "approve")
    case "EXECUTED": (record.state, record.decision) = (.executed, "approve")
    case "REJECTED" where reason == expired: (record.state, record.reason) = (.expired, reason)
    case "REJECTED":
      (record.state, record.decision) = (.rejected, "reject")
      record.reason = reason.isEmpty || reason == usualReason ? nil : reason
    default: record.state = .pending
    }
  }
}
