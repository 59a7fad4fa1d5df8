import Core
import Records

extension ServedBackend {
  /// Stores the actions and documents of a request: one object, or a record a
  /// line.
  ///
  /// - Returns: 200 when something was stored or nothing was wrong, else 400;
  ///   each line that could not be stored with its number and the reason.
  func post(_ body: [UInt8], type: String) async throws -> WholeAnswer {
    let parsed = PostedActions(body, now: .now())
    // The actions come last: who is told of a failure sends all of it again, and facts and
    // documents that are there already stay what they are.
    _ = try await memory.store(parsed.facts)
    for (document, bytes) in parsed.documents { try await documents.put(document, bytes) }
    let ids = try await log.append(parsed.actions)
    let answer = RecordText(stored: ids, faults: parsed.faults)
    let isRefused =
      ids.isEmpty && parsed.documents.isEmpty && parsed.facts.isEmpty && !parsed.faults.isEmpty
    guard isRefused else { return .json(answer) }
    // What the dashboard says of such a body (Agent/Clanky/CONTRACT.md 1.2).
    let isJSON = type.lowercased().holds("application/json")
    let error = isJSON && parsed.isUnreadable ? "invalid_json_body" : "no_valid_action"
    return .json(answer.string("error", error), status: 400)
  }
}

extension RecordText {
  /// What came of a body with a record a line.
  ///
  /// - Parameters:
  ///   - ids: of what was stored.
  ///   - faults: of what was not, in the order of the lines.
  init(stored ids: [Int64], faults: [(line: Int, reason: String)]) {
    self = RecordText().bool("ok", faults.isEmpty).number("stored", ids.count)
      .json("ids", "[\(ids.map(String.init).joined(separator: ","))]")
      .objects(
        "errors",
        faults.map { RecordText().number("line", $0.line).string("reason", $0.reason) })
  }
}

/// The actions of a posted body.
struct PostedActions {
  /// In their order.
  private(set) var actions: [LoggedAction] = []
  /// The facts among them.
  private(set) var facts: [StoredFact] = []
  /// The last of each.
  private(set) var documents: [Document: [UInt8]] = [:]
  /// The lines that hold none, from 1.
  private(set) var faults: [(line: Int, reason: String)] = []
  /// Whether no line of it is JSON.
  private(set) var isUnreadable = true

  /// - Parameters:
  ///   - body: one JSON object, also over several lines, or a record a line.
  ///   - now: the time of actions that name none.
  init(_ body: [UInt8], now: Timestamp) {
    var reader = RecordReader(now: now, isUnique: false)
    body.withUnsafeBytes { bytes in
      if ScanValidator.isValue(bytes) {
        take(bytes, line: 1, &reader)
        return
      }
      var line = 0
      for piece in bytes.split(separator: 10, omittingEmptySubsequences: false) {
        line += 1
        take(UnsafeRawBufferPointer(rebasing: piece), line: line, &reader)
      }
    }
    if actions.isEmpty && faults.isEmpty && documents.isEmpty && facts.isEmpty
      && body.allSatisfy({ $0 <= 0x20 })
    {
      faults.append((1, "no action in the body"))
    }
  }

  private mutating func take(
    _ bytes: UnsafeRawBufferPointer, line: Int, _ reader: inout RecordReader
  ) {
    do throws(ActionFault) {
      for item in try reader.read(bytes) {
        switch item.content {
        case .action(let action): actions.append(action)
        case .fact(let fact): facts.append(fact)
        case .document(let document, let body): documents[document] = body
        }
      }
      isUnreadable = false
    } catch {
      if ScanValidator.isValue(bytes) { isUnreadable = false }
      faults.append((line, error.reason))
    }
  }
}

extension ServedBackend {
  /// Stores a document that a request brings.
  ///
  /// - Returns: 200 when it is on the disk; 400 with a reason when it is none.
  /// - Throws: what SQLite says.
  func put(_ document: Document, _ body: [UInt8]) async throws -> WholeAnswer {
    switch document.accept(body) {
    case .success(let bytes):
      try await documents.put(document, bytes)
      return .json(#"{"ok":true}"#)
    case .failure(let fault):
      // The first of the two is what the dashboard says of such a body.
      let error = fault.isUnreadable ? "invalid_json_body" : "invalid_\(document.rawValue)"
      return .json(
        RecordText().bool("ok", false).string("error", error).string("reason", fault.reason),
        status: 400)
    }
  }
}
