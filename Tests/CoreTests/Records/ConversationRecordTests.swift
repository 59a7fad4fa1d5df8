import Core
import Records
import TestSupport
import Testing

@Suite struct ConversationRecordTests {
  private static let read: Set<RecordType> = [.thread, .message, .turn, .toolCall, .approval]

  @Test(arguments: AgentRecordSample.all.filter { read.contains($0.type) })
  func whatWasReadIsWrittenWithTheSameBytes(_ sample: AgentRecordSample) throws {
    for record in [sample.least, sample.most] {
      let again = try record.line.withUnsafeBytes { try ConversationRecord(reading: $0) }
      #expect(again?.record.line == record.line)
      #expect(again?.record.id == record.id && again?.record.origin == record.origin)
    }
  }

  @Test(arguments: AgentRecordSample.all.filter { !read.contains($0.type) })
  func othersArePassedOver(_ sample: AgentRecordSample) throws {
    #expect(try sample.most.line.withUnsafeBytes { try ConversationRecord(reading: $0) } == nil)
  }

  @Test(arguments: [
    // A backend's own, an event, an action that has a type.
    #"{"type":"message","id":"m","thread":"t","role":"user","text":"","state":"final"}"#,
    #"{"event":"turn","id":"","data":{"type":"turn","backend":"pincer"}}"#,
    #"{"type":"turn","backend":"clanky","created_at":"2026-01-01T00:00:00Z","kind":"x"}"#,
    #"{"type":7,"backend":"clanky"}"#, #"{"type":"later","backend":"clanky"}"#, "{}",
  ])
  func whatIsNotOfUsIsPassedOver(_ line: String) throws {
    #expect(try withBytes(line) { try ConversationRecord(reading: $0) } == nil)
  }

  @Test func membersThatAreNotKnownPassAndNullIsNothing() throws {
    let line =
      #" {"later":{"a":[1]},"id":"x","type":"turn","agent":null,"thread":"t","backend":"pincer","#
      + #""state":"queued","id":"u","usage":{"input_tokens":7,"cached":2}} "#
    var turn = TurnRecord(
      RecordOrigin(.pincer), id: "u", thread: "t", state: .queued, time: nil)
    turn.usage = TurnRecord.Usage(inputTokens: 7, outputTokens: nil)
    #expect(try withBytes(line) { try ConversationRecord(reading: $0) } == .turn(turn))
  }

  @Test func textIsMendedAndARequestKeepsItsSpelling() throws {
    let line =
      #"{"type":"approval","backend":"pincer","id":"\u0061\ud800","tool":"bash","#
      + #""request":{"n":1.10,"big":123456789012345678901},"decisions":[],"state":"pending"}"#
    let read = try withBytes(line) { try ConversationRecord(reading: $0) }
    guard case .approval(let approval) = read else {
      Issue.record("no approval")
      return
    }
    #expect(approval.id == "a\u{fffd}")
    #expect(
      String(decoding: approval.request, as: UTF8.self)
        == #"{"n":1.10,"big":123456789012345678901}"#)
  }

  @Test(arguments: [
    ("[]", "not a JSON object"), ("{\"a\":}", "a value is missing"), ("", "no value"),
    (#"{"type":"turn","backend":"pincer","thread":"t","state":"queued"}"#, "has no id"),
    (#"{"type":"turn","backend":"pincer","id":"u","thread":"t"}"#, "has no state"),
    (
      #"{"type":"turn","backend":"pincer","id":7,"thread":"t","state":"queued"}"#,
      "the member id is not a string"
    ),
    (
      #"{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"queued","usage":[]}"#,
      "the member usage is not an object"
    ),
    (
      #"{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"queued","usd_cost":"1"}"#,
      "the member usd_cost is not a number"
    ),
    (
      #"{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"queued","time":"now"}"#,
      "the member time is not a time of RFC 3339"
    ),
    (
      #"{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"queued","inferred":1}"#,
      "the member inferred is neither true nor false"
    ),
    (
      #"{"type":"tool_call","backend":"pincer","id":"c","thread":"t","tool":"x","state":"failed","#
        + #""exit_code":1.5}"#, "the member exit_code is not a whole number"
    ),
    (
      #"{"type":"thread","backend":"pincer","id":"t","participants":["a",1]}"#,
      "the member participants has an element that is not a string"
    ),
    (
      #"{"type":"thread","backend":"pincer","id":"t","participants":{}}"#,
      "the member participants is not an array"
    ),
    (
      #"{"type":"approval","backend":"pincer","id":"p","tool":"x","state":"pending"}"#,
      "has no request"
    ),
  ])
  func saysInALineWhyNot(_ line: String, _ reason: String) {
    let fault = #expect(throws: RecordFields.Fault.self) {
      try withBytes(line) { _ = try ConversationRecord(reading: $0) }
    }
    #expect(fault?.reason == reason)
    #expect(fault?.isNews == false)
  }

  @Test(arguments: [
    #"{"type":"turn","backend":"pincer","id":"u","thread":"t","state":"dreaming"}"#,
    #"{"type":"turn","backend":"other","id":"u","thread":"t","state":"queued"}"#,
    #"{"type":"message","backend":"pincer","id":"m","thread":"t","role":"oracle","text":"","#
      + #""state":"final"}"#,
  ])
  func aLaterVersionsWordsAreNoBadInput(_ line: String) {
    let fault = #expect(throws: RecordFields.Fault.self) {
      try withBytes(line) { _ = try ConversationRecord(reading: $0) }
    }
    #expect(fault?.isNews == true)
  }
}
