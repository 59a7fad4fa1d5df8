import Core
import Records
import Turns

/// An action that waits for a person, as a Pincer server lists it
/// (Agent/Pincer/CONTRACT.md 3.3).
struct PincerAction {
  /// The record of it.
  let record: ApprovalRecord

  /// The reason of one that was rejected because its time was over.
  static let expired = "expired"
  private static let usualReason = "rejected_by_user"

  /// - Returns: nil for a row without an id.
  init?(_ row: [UInt8], asked: String, _ origin: RecordOrigin) {
    guard let value = row.withUnsafeBytes({ try? JSONValue.parse($0) }) else { return nil }
    let id = value.pincerText("actionId")
    if id.isEmpty { return nil }
    var record = row.withUnsafeBytes { bytes in
      PincerApproval.record(
        origin, id: id, tool: value.pincerText("tool"),
        risk: value.pincerEnum("riskClass", PincerWords.risks),
        preview: (try? ScanMembers.value(of: "preview", in: bytes)) ?? .absent,
        time: value.pincerTime("createdAt"))
    }
    let summary = value.pincerText("deterministicSummary")
    record.summary = summary.isEmpty ? nil : summary
    // What a source is called is not said; its id tells.
    let source = value.pincerText("sourceId")
    if source.hasPrefix("thr_") { record.thread = source }
    if source.hasPrefix("turn_") { record.turn = source }
    record.expires = value.pincerTime("expiresAt")
    Self.decide(
      &record, value.pincerEnum("status", PincerWords.actionStates) ?? asked,
      reason: value.pincerText("rejectionReason"))
    self.record = record
  }

  private static func decide(_ record: inout ApprovalRecord, _ status: String, reason: String) {
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

/// The lists of a Pincer server by state: what became of actions.
final class PincerFates {
  private let calls: PincerCalls
  private let origin: RecordOrigin

  /// In the order in which an action goes through them: one that moves on meanwhile is met
  /// in a later list.
  private static let order = ["PENDING", "APPROVED", "EXECUTED", "REJECTED"]

  init(_ calls: PincerCalls, _ origin: RecordOrigin) {
    self.calls = calls
    self.origin = origin
  }

  /// Asks for the actions of a state.
  func list(
    _ status: String, then: @escaping (Result<[ApprovalRecord], PincerCalls.Failure>) -> Void
  ) {
    calls.call(.listApprovals, RecordText().string("status", status)) { [origin] outcome in
      then(
        outcome.map { reply in
          PincerPages.items(reply.bytes).compactMap {
            PincerAction($0, asked: status, origin)?.record
          }
        })
    }
  }

  /// Looks for actions in all lists, until each is found.
  func look(
    for ids: Set<String>,
    then: @escaping (Result<[String: ApprovalRecord], PincerCalls.Failure>) -> Void
  ) {
    look(for: ids, in: Self.order[...], found: [:], then: then)
  }

  private func look(
    for ids: Set<String>, in rest: ArraySlice<String>, found: [String: ApprovalRecord],
    then: @escaping (Result<[String: ApprovalRecord], PincerCalls.Failure>) -> Void
  ) {
    guard let status = rest.first, found.count < ids.count else { return then(.success(found)) }
    list(status) { [weak self] result in
      switch result {
      case .failure(let failure): then(.failure(failure))
      case .success(let records):
        var found = found
        for record in records where ids.contains(record.id) { found[record.id] = record }
        self?.look(for: ids, in: rest.dropFirst(), found: found, then: then)
      }
    }
  }
}
