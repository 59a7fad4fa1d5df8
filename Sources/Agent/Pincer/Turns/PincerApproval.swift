public import Core
public import Records

/// What a Pincer server asks a person (CONTRACT.md 5): the same record whether an event tells
/// it or a list.
public enum PincerApproval {
  /// What may be answered.
  public static let decisions = ["approve", "reject"]

  /// A pending approval.
  ///
  /// - Parameters:
  ///   - risk: the name of its class; nil where the server says none.
  ///   - preview: what would be done, a JSON object; absent for nothing.
  ///   - job: the job whose it is; nil for none.
  public static func record(
    _ origin: RecordOrigin, id: String, tool: String, risk: String?, preview: ScanValue,
    job: String? = nil, time: Timestamp?
  ) -> ApprovalRecord {
    // What is decided by comes from the server; a model could name members of a preview so.
    let request = RecordText().string("tool", tool).string("riskClass", risk)
      .json("preview", bytes: preview.isObject ? preview.json : Array("{}".utf8))
      .string("job", job)
    var record = ApprovalRecord(
      origin, id: id, tool: tool, request: request.bytes, decisions: decisions, state: .pending,
      time: time)
    record.risk = risk
    return record
  }

  /// The names of the classes of risk, from 1 (CONTRACT.md 5.4).
  public static let risks = ["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]
  /// The names of the states of an action, from 1.
  public static let states = ["PENDING", "APPROVED", "REJECTED", "EXECUTED"]

  /// The name of a class of risk, by its name or number; nil for none.
  public static func risk(_ value: ScanValue) -> String? { name(value, risks) }

  /// The state of a status, by its name or number; nil for one that is not known.
  ///
  /// - Parameter reason: why; nobody answered in time where it says so.
  public static func state(_ value: ScanValue, reason: String) -> ApprovalRecord.State? {
    switch name(value, states) {
    case "PENDING": .pending
    case "APPROVED": .approved
    case "REJECTED": reason == "expired" ? .expired : .rejected
    case "EXECUTED": .executed
    default: nil
    }
  }

  private static func name(_ value: ScanValue, _ names: [String]) -> String? {
    if value.isString {
      let text = value.string ?? ""
      return text.isEmpty || text.hasSuffix("_UNSPECIFIED") ? nil : text
    }
    guard let number = value.wholeNumber, number > 0 else { return nil }
    return number <= names.count ? names[Int(number) - 1] : String(number)
  }
}
