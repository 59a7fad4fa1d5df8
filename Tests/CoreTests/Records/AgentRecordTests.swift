import Core
import Records
import TestSupport
import Testing

@Suite struct AgentRecordTests {
  private func text(_ type: RecordType, most: Bool) throws -> String {
    let sample = try #require(AgentRecordSample.all.first { $0.type == type })
    return String(decoding: (most ? sample.most : sample.least).bytes, as: UTF8.self)
  }

  @Test func whatIsNotKnownIsLeftOut() throws {
    #expect(
      try text(.message, most: false)
        == #"{"type":"message","backend":"openclaw","id":"m","thread":"t","role":"assistant","#
        + #""text":"hello\n","state":"partial"}"#)
    #expect(
      try text(.thread, most: false) == #"{"type":"thread","backend":"openclaw","id":"t"}"#)
  }

  @Test func membersStandInTheOrderOfTheManual() throws {
    #expect(
      try text(.turn, most: true)
        == #"{"type":"turn","backend":"claudio","profile":"p\u001b","id":"u","thread":"t","#
        + #""parent":"v","tool_call":"c","agent":"a","state":"queued","reason":"r","message":"m","#
        + #""usage":{"input_tokens":7},"#
        + #""usd_cost":0.1,"started":"1970-01-01T00:01:00.000Z","#
        + #""ended":"1970-01-01T00:01:00.000Z","duration_ms":12,"inferred":false,"#
        + #""time":"1970-01-01T00:00:01.000Z"}"#
    )
    #expect(
      try text(.message, most: true).contains(
        #","attachments":[{"name":"a.png","media_type":"image/png","size":3,"url":"https://u"},{}],"inferred":true,"#
      ))
    #expect(
      try text(.task, most: true).contains(#","due":"2026-03-14","assignee":"ada","labels":[],"#))
    #expect(try text(.thread, most: true).contains(#","participants":["a","\"b\""],"messages":2,"#))
  }

  @Test func whatABackendSentKeepsItsBytesOnOneLine() throws {
    let call = try text(.toolCall, most: true)
    #expect(call.contains(#","arguments":{"n":1.10,  "n":2},"state":"planned","#))
    #expect(call.contains(#","stdout":"o","stderr":"","exit_code":-1,"duration_ms":12,"#))
    #expect(
      try text(.approval, most: true).contains(
        #","request":{"command":"rm -r x"},"decisions":["allow-once","deny"],"state":"pending","#))
  }

  @Test(arguments: AgentRecordSample.all)
  func eachIsOneLineOfOurOwn(_ sample: AgentRecordSample) throws {
    for record in [sample.least, sample.most] {
      let line = record.line
      #expect(line == record.bytes + [10] && !record.bytes.contains(10))
      var scan = RecordScan()
      #expect(try record.bytes.withUnsafeBytes { try scan.read($0) } == .own)
      #expect(record.bytes.withUnsafeBytes { ScanValidator.isValue($0) })
    }
  }

  @Test func aCostThatIsNoNumberIsNotWritten() {
    var turn = TurnRecord(
      RecordOrigin(.clanky), id: "u", thread: "t", state: .completed, time: nil)
    turn.cost = .infinity
    #expect(!String(decoding: turn.bytes, as: UTF8.self).contains("usd_cost"))
  }

  @Test func anEndNeverTurnsBack() {
    #expect(ends(MessageRecord.State.self) == [.final, .aborted, .failed])
    #expect(ends(TurnRecord.State.self) == [.completed, .aborted, .failed])
    #expect(ends(ToolCallRecord.State.self) == [.succeeded, .failed, .rejected])
    #expect(ends(ApprovalRecord.State.self) == [.rejected, .expired, .cancelled, .executed])
    #expect(ends(TaskRecord.State.self) == [.done, .failed, .cancelled])
    #expect(ends(ThreadRecord.State.self) == [])
    #expect(followers(of: TurnRecord.State.paused) == TurnRecord.State.allCases)
    #expect(followers(of: TurnRecord.State.aborted) == [.aborted])
    #expect(followers(of: ApprovalRecord.State.pending) == ApprovalRecord.State.allCases)
    #expect(followers(of: ApprovalRecord.State.approved) == [.approved, .executed])
    #expect(followers(of: ApprovalRecord.State.executed) == [.executed])
  }

  private func ends<State: RecordState>(_ type: State.Type) -> [State] {
    State.allCases.filter(\.isEnd)
  }

  private func followers<State: RecordState>(of state: State) -> [State] {
    State.allCases.filter { state.mayBecome($0) }
  }
}

@Suite struct ApprovalDecisionTests {
  @Test(arguments: [
    #"{"id":"a1","decision":"deny"}"#,
    #"{"type":"approval","id":"a1","decision":"deny","later":1}"#,
    #"{"type":"approval","id":"a1","state":"pending","decision":"deny","reason":null}"#,
    #"{"type":"approval_answer","id":"a1","decision":"deny","result":"unknown"}"#,
  ])
  func isReadFromEachForm(_ text: String) throws {
    let decision = try ApprovalDecision(reading: JSONValue.parse(text: text))
    #expect(decision.id == "a1" && decision.decision == "deny")
    #expect(decision.reason == nil && decision.profile == nil && decision.decisions == [])
  }

  @Test func whatTheRecordSaysBesideIsKept() throws {
    let sample = try #require(AgentRecordSample.all.first { $0.type == .approval })
    let pending = try sample.most.bytes.withUnsafeBytes { try JSONValue.parse($0) }
    let decision = try ApprovalDecision(reading: pending)
    #expect(decision.id == "p" && decision.decision == "deny" && decision.reason == "r")
    #expect(decision.profile == "p\u{1b}" && decision.decisions == ["allow-once", "deny"])
  }

  @Test(arguments: [
    ("[]", "not a JSON object"),
    (#"{"decision":"deny"}"#, "has no id"),
    (#"{"id":null,"decision":"deny"}"#, "has no id"),
    (#"{"id":7,"decision":"deny"}"#, "the id is not a string, or is empty"),
    (#"{"id":"a"}"#, "has no decision"),
    (#"{"id":"a","decision":""}"#, "the decision is not a string, or is empty"),
    (#"{"id":"a","decision":true}"#, "the decision is not a string, or is empty"),
    (#"{"id":"a","decision":"deny","reason":{}}"#, "the reason is not a string"),
    (#"{"type":"turn","id":"a","decision":"deny"}"#, "neither an approval nor a decision"),
    (
      #"{"type":"approval","id":"a","decision":"deny","state":"approved"}"#,
      "the approval is not pending any more"
    ),
  ])
  func saysInALineWhyNot(_ text: String, _ reason: String) throws {
    let record = try JSONValue.parse(text: text)
    let fault = #expect(throws: Failure.self) {
      try ApprovalDecision(reading: record)
    }
    #expect(fault?.reason == reason)
  }
}
