import Core
import Records
import Testing

@testable import Agent

/// The numbers of a thread's events.
@Suite struct WatchLedgerTests {
  private func retry(_ ledger: inout WatchLedger) -> Bool { ledger.retry() }

  @Test func whatComesInOrderIsTaken() {
    var ledger = WatchLedger(last: 4)
    ledger.connect()
    #expect(ledger.receive(5) == .take)
    #expect(ledger.receive(6) == .take)
    #expect(ledger.last == 6)
    #expect(ledger.receive(6) == .drop)
    #expect(ledger.receive(2) == .drop)
    #expect(ledger.receive(0) == .drop)
    #expect(ledger.last == 6)
  }

  @Test func aHoleIsAskedForAndToldWhenItStays() {
    var ledger = WatchLedger(last: 0)
    ledger.connect()
    #expect(ledger.receive(1) == .take)
    #expect(ledger.receive(4) == .refetch)
    #expect(retry(&ledger) == true)
    for _ in 1..<WatchLedger.mostTries {
      ledger.connect()
      #expect(ledger.receive(4) == .refetch)
      #expect(retry(&ledger) == true)
    }
    ledger.connect()
    #expect(ledger.receive(4) == .refetch)
    #expect(retry(&ledger) == false)
    ledger.connect()
    #expect(ledger.receive(4) == .takeBehind(2...3))
    #expect(ledger.receive(5) == .take)
    // It is over with that: another hole is asked for again.
    #expect(ledger.receive(8) == .refetch)
  }

  @Test func aHoleThatIsMendedIsForgotten() {
    var ledger = WatchLedger(last: 0)
    ledger.connect()
    #expect(ledger.receive(3) == .refetch)
    #expect(retry(&ledger) == true)
    ledger.connect()
    for number in 1...3 { #expect(ledger.receive(Int64(number)) == .take) }
    #expect(ledger.hasGrown)
    #expect(ledger.receive(5) == .refetch)
  }

  @Test func whatWasPassedOverIsAHoleAtOnce() {
    var ledger = WatchLedger(last: 1)
    ledger.connect()
    ledger.passOver()
    #expect(ledger.receive(3) == .takeBehind(2...2))
    ledger.passOver()
    #expect(ledger.receive(6) == .refetch)
  }

  @Test func whatTheServerHasIsMissed() {
    var ledger = WatchLedger(last: 3)
    ledger.connect()
    ledger.learn(3)
    #expect(!ledger.isBehind)
    ledger.learn(5)
    #expect(ledger.isBehind)
    #expect(retry(&ledger) == true)
    ledger.connect()
    #expect(retry(&ledger) == false)
    #expect(!ledger.isBehind)
    ledger.learn(6)
    #expect(ledger.isBehind)
    #expect(ledger.receive(6) == .takeBehind(4...5))
    #expect(!ledger.isBehind)
  }

  @Test func theLargestNumberIsTheLast() {
    var ledger = WatchLedger(last: .max)
    #expect(ledger.last == WatchLedger.largest)
    ledger.connect()
    #expect(ledger.receive(WatchLedger.largest) == .drop)
    ledger = WatchLedger(last: 0)
    #expect(ledger.receive(WatchLedger.largest) == .refetch)
    ledger.learn(.max)
    #expect(ledger.isBehind)
  }

  @Test func aBacklogMayBeCut() {
    var ledger = WatchLedger(last: 0)
    ledger.connect()
    ledger.learn(5000)
    for number in 1...Int64(WatchLedger.backlog) { #expect(ledger.receive(number) == .take) }
    #expect(ledger.isCut)
    ledger.connect()
    #expect(!ledger.isCut)
  }
}

/// What stands in the envelope of an event.
@Suite struct PincerEventTests {
  private func event(_ text: String) throws -> (String, Int64) {
    let event = try PincerEvent(Array(text.utf8))
    return (event.name, event.sequence)
  }

  @Test(arguments: [
    (#"{"sequence":"5","turnCompleted":{}}"#, "turnCompleted", 5),
    (#"{"sequence":5,"turn_completed":{}}"#, "turnCompleted", 5),
    ("{\n \"streamGap\": {},\n \"sequence\": \"9223372036854775806\"\n}", "streamGap", .max - 1),
    (#"{"occurredAt":"x","source":3,"heartbeat":{"latestSequence":"7"}}"#, "heartbeat", 0),
    (#"{"sequence":"1","inventedLater":{"a":1},"eventId":"e"}"#, "inventedLater", 1),
    (#"{"sequence":"2"}"#, "unknown", 2), (#"{"sequence":3.0,"x":{}}"#, "x", 3),
  ])
  func isRead(text: String, name: String, sequence: Int64) throws {
    #expect(try event(text) == (name, sequence))
  }

  @Test(arguments: [
    "", "[]", "{", #"{"sequence":"many"}"#, #"{"sequence":-1}"#, #"{"sequence":1.5}"#,
    #"{"sequence":"18446744073709551616"}"#, #"{"sequence":"9223372036854775807"}"#,
    #"{"sequence":{}}"#,
  ])
  func isNone(text: String) {
    #expect(throws: Failure.self) { try event(text) }
  }

  @Test func namesHaveTwoSpellings() {
    #expect(PincerName.snake("toolCallId") == "tool_call_id")
    #expect(PincerName.camel("tool_call_id") == "toolCallId")
    #expect(PincerName.camel("_") == "_")
  }
}

/// One question, as the thread tells of it.
@Suite struct PincerTurnTests {
  private func turn(_ events: [String], id: String? = "t1") throws -> PincerTurn {
    let question = ChatQuestion(thread: "thr", agent: nil, text: "hello", key: "k")
    var turn = PincerTurn(question, RecordOrigin(.pincer), thread: "thr", base: 0)
    if let id { turn.claim(id, message: "") }
    for event in events { _ = try receive(event, &turn) }
    return turn
  }

  private func receive(_ event: String, _ turn: inout PincerTurn) throws -> [ChatNews]? {
    turn.receive(Array(event.utf8), try JSONValue.parse(text: event))
  }

  private static let began = #"{"turnId":"t1","sequence":"1","turnStarted":{}}"#
  private static let planned = #"""
    {"turnId":"t1","sequence":"2","toolCallPlanned":{"toolCallId":"a1","toolName":"run_bash"}}
    """#

  private static let proposed = #"""
    {"turnId":"t1","sequence":"3","proposedActionCreated":{"actionId":"a1","tool":"run_bash",
    "riskClass":5,"preview":{"command":"ls"},"deterministicSummary":"harmless"}}
    """#
  private static let paused = #"{"turnId":"t1","sequence":"4","turnPaused":{}}"#

  @Test func endsOnce() throws {
    let done = #"{"turnId":"t1","sequence":"2","turnCompleted":{}}"#
    let failed = #"{"turnId":"t1","sequence":"3","turnFailed":{"code":"C","message":"m"}}"#
    #expect(try turn([Self.began, done, failed]).end == .answered)
    #expect(try turn([Self.began, failed, done]).end == .failed("C: m"))
    #expect(
      try turn([Self.began, #"{"turnId":"t1","turn_failed":{}}"#]).end
        == .failed("no reason is given"))
    #expect(try turn([#"{"turnId":"t2","turnCompleted":{}}"#]).end == nil)
    #expect(try turn([#"{"turnCompleted":{}}"#]).end == nil)
  }

  @Test func saysWhatItWaitsFor() throws {
    let turn = try turn([Self.proposed, Self.paused])
    #expect(turn.isPaused)
    #expect(turn.waitsFor == #"run_bash (HIGH) {"command":"ls"}, approval a1"#)
    #expect(!turn.isStuck)
  }

  @Test func anApprovalNamesNoTurn() throws {
    let approved = #"{"sequence":"5","proposedActionStatusChanged":{"actionId":"a1","status":2}}"#
    let runs = #"{"sequence":"6","toolExecutionStarted":{"executionId":"x1","toolCallId":"a1"}}"#
    let ran = #"{"sequence":"7","toolExecutionFinished":{"executionId":"x1"}}"#
    let resumed = #"{"turnId":"t1","sequence":"8","turnResumed":{}}"#
    let asked = [Self.began, Self.planned, Self.proposed, Self.paused, approved]
    #expect(try turn(asked + [runs]).isWorking)
    #expect(try !turn(asked + [runs, ran]).isWorking)
    #expect(try !turn(asked + [runs, ran, resumed]).isPaused)
    let other = #"{"sequence":"6","toolExecutionStarted":{"executionId":"x1","toolCallId":"a2"}}"#
    #expect(try !turn([Self.proposed, Self.paused, other]).isWorking)
  }

  @Test func anApprovalThatExpiredGoesNoFurther() throws {
    func changed(_ reason: String) -> String {
      #"{"sequence":"5","proposedActionStatusChanged":{"actionId":"a1","status":"REJECTED","#
        + #""reason":"\#(reason)"}}"#
    }
    #expect(try turn([Self.proposed, Self.paused, changed("expired")]).isStuck)
    #expect(try !turn([Self.proposed, Self.paused, changed("rejected_by_user")]).isStuck)
  }

  @Test func eachEventCountsOnce() throws {
    var turn = try turn([Self.proposed])
    #expect(try receive(Self.proposed, &turn) == nil)
    #expect(try receive(#"{"turnId":"t1","turnPaused":{}}"#, &turn) != nil)
  }
}

/// The rows of approvals.
@Suite struct PincerActionTests {
  private func row(_ row: String, asked: String = "PENDING") -> ApprovalRecord? {
    PincerAction(Array(row.utf8), asked: asked, RecordOrigin(.pincer))?.record
  }

  @Test func isARecord() throws {
    let record = try #require(
      row(
        #"{"actionId":"a","tool":"run_bash","riskClass":"HIGH","sourceId":"thr_1","#
          + #""deterministicSummary":"s","preview":{"n":1.10,"tool":"x"},"#
          + #""createdAt":"2026-02-20T09:00:00Z","expiresAt":"2026-02-21T09:00:00Z"}"#))
    #expect(record.state == .pending)
    #expect(record.thread == "thr_1")
    #expect(
      String(decoding: record.request, as: UTF8.self)
        == #"{"tool":"run_bash","riskClass":"HIGH","preview":{"n":1.10,"tool":"x"}}"#)
    #expect(record.decisions == ["approve", "reject"])
  }

  @Test func itsStateIsItsOwn() {
    #expect(row(#"{"actionId":"a"}"#, asked: "EXECUTED")?.state == .executed)
    #expect(row(#"{"action_id":"a","status":2}"#)?.state == .approved)
    #expect(row(#"{"actionId":"a","status":"REJECTED"}"#)?.decision == "reject")
    let expired = row(#"{"actionId":"a","status":3,"rejectionReason":"expired"}"#)
    #expect(expired?.state == .expired)
    #expect(row(#"{"tool":"x"}"#) == nil)
    #expect(row("[]") == nil)
  }

  @Test func wordsMeanTheSameForAllAgents() {
    #expect(
      ["approve", "yes", "approved"].map(PincerApprovals.word)
        == Array(repeating: "approve", count: 3))
    #expect(
      ["deny", "no", "reject"].map(PincerApprovals.word) == Array(repeating: "reject", count: 3))
    #expect(PincerApprovals.word("allow-always") == "allow-always")
  }
}

/// Lists in pages.
@Suite struct PincerPagesTests {
  @Test func turn() throws {
    var pages = PincerPages()
    #expect(try pages.turn(try JSONValue.parse(text: #"{"nextPageToken":"a"}"#), at: ""))
    #expect(pages.token == "a")
    #expect(try pages.turn(try JSONValue.parse(text: #"{"next_page_token":"b"}"#), at: ""))
    #expect(throws: Failure.self) {
      try pages.turn(try JSONValue.parse(text: #"{"nextPageToken":"b"}"#), at: "")
    }
    #expect(try !pages.turn(try JSONValue.parse(text: "{}"), at: ""))
  }

  @Test func rowsStandOnALineEach() {
    let rows = PincerPages.items(Array("{\n\"items\": [ {\"a\":\n1}, {} ]}".utf8))
    #expect(rows.map { String(decoding: $0, as: UTF8.self) } == ["{\"a\": 1}", "{}"])
    #expect(PincerPages.items(Array("{}".utf8)).isEmpty)
  }
}
