import Agent
import Core
import Records

/// Answers that were decided elsewhere: on the command line, or by a filter whose records
/// come on standard input. One result a line, in the order of the decisions.
class Answering: OpenLine {
  /// What came of each that was not printed yet; nil while it is under way.
  private var results: [ApprovalAnswer?] = []
  private var decisions: [ApprovalDecision] = []
  private var first = 0
  private lazy var faults = FaultLog(diagnostics)
  private var status = ExitStatus.success

  /// How many may be under way: the rest waits in the pipe.
  private static let most = 64

  func give(_ decisions: [ApprovalDecision]) throws -> ExitStatus {
    for each in decisions { answer(each) }
    return try finish()
  }

  /// Gives the answers that are read from standard input, as they come.
  func read(as decision: String? = nil, reason: String? = nil) throws -> ExitStatus {
    do {
      var input = try RecordInput(path: "-", writtenTo: FileIdentity(descriptor: 1), .lines)
      // The link opens at once, before anything is decided.
      try run { true }
      while end == nil, let record = try input.next(beforeBlocking: waitForInput) {
        if let decision {
          receive(record, as: decision, reason)
        } else {
          receive(record)
        }
        try waitForRoom()
      }
    } catch let failure as Failure {
      faults.file("-", failure.reason)
    } catch is Enough {
      // Nothing more is to be read.
    }
    if options.reconnect.maxTime == nil {
      deadline = min(deadline, Clock.monotonic + ApproveOptions.usualTime)
    }
    faults.finish()
    if faults.hasFault { status = status.worse(.failure) }
    return try finish()
  }

  /// Goes on until there is something to read.
  private func waitForInput(_ source: Int32) throws {
    try run(reading: source) { false }
    if end != nil { throw Enough() }
  }

  /// A pipe that is faster than the agent waits, and a file does.
  private func waitForRoom() throws(WriteFailure) {
    guard results.count >= Self.most else { return }
    try run { results.count < Self.most }
  }

  private func receive(_ record: RecordInput.Line) {
    if record.bytes.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 13 }) { return }
    let value: JSONValue
    do throws(Failure) { value = try JSONValue.parse(record.bytes) } catch {
      return faults.line("-", record.number, "not JSON: \(error.reason)")
    }
    do throws(Failure) { answer(try ApprovalDecision(reading: value)) } catch {
      faults.line("-", record.number, error.reason)
    }
  }

  private func receive(_ record: RecordInput.Line, as decision: String, _ reason: String?) {
    let text = String(decoding: record.bytes, as: UTF8.self)
    let words = text.split { " \t\r".contains($0) }
    if words.isEmpty { return }
    if words.count == 1, words[0].first != "{" {
      return answer(ApprovalDecision(id: String(words[0]), decision: decision, reason: reason))
    }
    guard let value = try? JSONValue.parse(record.bytes), value.isObject else {
      return faults.line("-", record.number, "neither one id nor a JSON object")
    }
    do throws(Failure) {
      answer(try ApprovalDecision(reading: value, as: decision, reason: reason))
    } catch {
      faults.line("-", record.number, error.reason)
    }
  }

  private func answer(_ decision: ApprovalDecision) {
    let number = first + results.count
    results.append(nil)
    decisions.append(decision)
    if let theirs = decision.profile, let ours = profile, theirs != ours {
      let reason = "it is of the profile \(theirs), not of \(ours)"
      return answered(result(decision, .refused, reason), number: number)
    }
    line.answer(decision, number: number)
  }

  private func result(
    _ decision: ApprovalDecision, _ result: ApprovalAnswer.Result, _ reason: String
  ) -> ApprovalAnswer {
    var answer = ApprovalAnswer(
      line.origin, id: decision.id, decision: decision.decision, result: result,
      time: .now())
    answer.reason = reason
    return answer
  }

  override func answered(_ answer: ApprovalAnswer, number: Int) {
    guard number >= first, results.indices.contains(number - first) else { return }
    results[number - first] = answer
    while let result = results.first, let result {
      results.removeFirst()
      decisions.removeFirst()
      first += 1
      status = status.worse(result.result.status)
      write { () throws(WriteFailure) in try output.answer(result) }
    }
  }

  private func finish() throws -> ExitStatus {
    try run { results.isEmpty }
    // The time is up. Nothing is sent before the list is there; later it may count or not.
    while let decision = decisions.first {
      answered(
        isListed
          ? result(decision, .unknown, "no reply came in time")
          : result(decision, .refused, "it was not sent: the link was never open"), number: first)
    }
    return try leave(status)
  }
}
