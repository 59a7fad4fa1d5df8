import Agent
import Core
import Records
import Screen

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
        receive(record, as: decision, reason)
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

  /// Reads a line: a decision; or, where one is given for all, whom it is for.
  private func receive(_ record: RecordInput.Line, as given: String?, _ reason: String?) {
    let words = String(decoding: record.bytes, as: UTF8.self).split { " \t\r".contains($0) }
    if words.isEmpty { return }
    if let given, words.count == 1, words[0].first != "{" {
      return answer(ApprovalDecision(id: String(words[0]), decision: given, reason: reason))
    }
    if given != nil, (try? JSONValue.parse(record.bytes))?.isObject != true {
      return faults.line("-", record.number, "neither one id nor a JSON object")
    }
    let value: JSONValue
    do throws(Failure) { value = try JSONValue.parse(record.bytes) } catch {
      return faults.line("-", record.number, "not JSON: \(error.reason)")
    }
    do throws(Failure) {
      answer(try ApprovalDecision(reading: value, as: given, reason: reason))
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

/// `--edit`: allows what is asked for, but with another command, which a person writes.
final class Editing: Answering {
  private var found: [String: ApprovalRecord] = [:]

  func edit(_ id: String) throws -> ExitStatus {
    try run { isListed }
    guard end == nil else { return try leave(.success) }
    guard let approval = found[id] else {
      diagnostics.say("nothing with the id \(Visible.line(id)) waits")
      return try leave(.negative)
    }
    let change = try ApprovalEdit(approval)
    guard let input = try change.input(diagnostics) else {
      diagnostics.say("nothing changed, and nothing was sent")
      return try leave(.negative)
    }
    guard Confirmation.isYes("Allow that?") else {
      diagnostics.say("nothing was sent")
      return try leave(.negative)
    }
    return try give([ApprovalDecision(id: id, decision: "approve", input: input)])
  }

  override func changed(_ approval: ApprovalRecord) {
    found[approval.id] = approval.state == .pending ? approval : nil
  }
}

/// What a tool is to be given instead of what was asked for.
struct ApprovalEdit {
  /// The members but the command, with their bytes.
  private var members: [[UInt8]] = []
  private let text: String
  private let isCommand: Bool

  /// - Throws: `Failure` for what cannot be changed.
  init(_ approval: ApprovalRecord) throws(Failure) {
    let request = try? JSONValue.parse(approval.request)
    guard let input = request?["tool_input"], input.isObject, approval.tool != AskedQuestion.tool
    else {
      throw Failure(
        Visible.line(approval.id), "only what a tool of Claude Code asks can be changed")
    }
    isCommand = input["command"]?.string != nil
    let bytes = approval.request.withUnsafeBytes { request in
      (try? ScanMembers.value(of: "tool_input", in: request)).map { Array($0.bytes) } ?? []
    }
    text = input["command"]?.string ?? String(decoding: bytes, as: UTF8.self)
    members = bytes.withUnsafeBytes { bytes in
      guard var scan = try? ScanMembers(bytes) else { return [] }
      var members: [[UInt8]] = []
      while (try? scan.next()) == true {
        if scan.key.unescaped == "command" { continue }
        members.append([0x22] + Array(scan.key.bytes) + [0x22, 0x3a] + Array(scan.value.bytes))
      }
      return members
    }
  }

  /// Has it changed, and shows on standard error what is another; nil where nothing is.
  func input(_ diagnostics: Diagnostics) throws(Failure) -> [UInt8]? {
    let editor = try Editor(text + "\n", name: "agent-approve.\(isCommand ? "sh" : "json")")
    defer { editor.remove() }
    let bytes = try editor.edit()
    guard var new = String(validating: bytes, as: UTF8.self) else {
      throw Failure("what was written", "not UTF-8")
    }
    if new.hasSuffix("\n") { new.removeLast() }
    // What is edited away altogether is given up.
    guard !new.utf8.elementsEqual(text.utf8), !new.trimmed.isEmpty else { return nil }
    let lines = ApprovalCard.diff(text, new).map { $0.render(width: nil, depth: .none) + "\n" }
    try? RecordWriter.print(lines.joined(), to: 2)
    if isCommand {
      return members.reduce(RecordText()) { $0.members($1) }.string("command", new).bytes
    }
    guard (try? JSONValue.parse(bytes))?.isObject == true else {
      throw Failure("what was written", "not a JSON object")
    }
    return RowText.line(bytes)
  }
}
