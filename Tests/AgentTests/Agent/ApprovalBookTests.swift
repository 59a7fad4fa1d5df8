import Core
import Records
import Testing

@testable import Agent

/// What is known of approvals (Agent/OpenClaw/CONTRACT.md 8).
@Suite struct ApprovalBookTests {
  private let origin = RecordOrigin(.openclaw, profile: "claw")
  private let now = Timestamp(seconds: 1_800_000_000)

  private func with<Result>(_ json: String, _ body: (ScanValue) -> Result) -> Result {
    Array(json.utf8).withUnsafeBytes { body(ScanValue($0)) }
  }

  private func asks(_ id: String, _ more: String = "") -> String {
    #"{"id":"\#(id)","request":{"command":"make"\#(more)},"createdAtMs":1790000000000,"expiresAtMs":1790001800000}"#
  }

  private func list(_ book: ApprovalBook, _ ids: [String]) -> [ApprovalRecord] {
    book.beginList()
    let rows = ids.map { asks($0) }.joined(separator: ",")
    let changed = with("{\"approvals\":[\(rows)]}") { book.receive(.exec, list: $0) }
    return changed + book.endList(now: now)
  }

  private func resolve(
    _ book: ApprovalBook, _ id: String, _ decision: String, _ more: String = ""
  ) -> ApprovalRecord? {
    with(#"{"id":"\#(id)","decision":\#(decision),"resolvedBy":"ada"\#(more)}"#) {
      book.receive(.exec, resolved: $0, now: now)
    }
  }

  @Test func whatWaitsIsARecordWithTheGatewaysObject() throws {
    let book = ApprovalBook(origin)
    let request =
      #"{"command":"make","n":1.10,"sessionKey":"agent:heron:main","allowedDecisions":["deny"]}"#
    let event = #"{"id":"a","request":\#(request),"createdAtMs":1790000000000,"expiresAtMs":1e300}"#
    let approval = try #require(with(event) { book.receive(.exec, requested: $0) })
    #expect(approval.id == "a" && approval.tool == "exec" && approval.state == .pending)
    #expect(approval.request == Array(request.utf8), "with its bytes")
    #expect(approval.decisions == ["deny"] && approval.thread == "agent:heron:main")
    #expect(approval.time == Timestamp(seconds: 1_790_000_000) && approval.expires == nil)
    #expect(with(event) { book.receive(.exec, requested: $0) } == nil, "and is told once")
  }

  @Test(arguments: [
    "[]", "{}", #"{"id":1,"request":{}}"#, #"{"id":"","request":{}}"#, #"{"id":"a"}"#,
    #"{"id":"a","request":[]}"#, "null",
  ])
  func whatIsNoRequestIsNone(payload: String) {
    #expect(with(payload) { ApprovalBook(origin).receive(.exec, requested: $0) } == nil)
  }

  @Test func anEndStaysWhateverComesBehindIt() throws {
    let book = ApprovalBook(origin)
    #expect(list(book, ["a", "b"]).map(\.id) == ["a", "b"])
    let over = try #require(resolve(book, "a", "\"deny\""))
    #expect(over.state == .rejected && over.by == "ada" && over.decision == "deny")
    #expect(list(book, ["a", "b"]).isEmpty, "an older list brings nothing back")
    #expect(resolve(book, "a", "\"allow-once\"") == nil)
    guard case .over("deny"?, _) = book.fate(of: "a") else { return #expect(Bool(false)) }
  }

  @Test func whatNoListHasAnyMoreIsOverButForWhatJustCame() {
    let book = ApprovalBook(origin)
    _ = list(book, ["a", "b"])
    book.beginList()
    _ = with(asks("c")) { book.receive(.exec, requested: $0) }
    _ = with("[\(asks("b"))]") { book.receive(.exec, list: $0) }
    let gone = book.endList(now: now)
    #expect(gone.map(\.id) == ["a"] && gone.first?.state == .expired)
    book.beginList()
    book.dropList()
    #expect(book.endList(now: now).isEmpty, "a list that was lost ends nothing")
  }

  @Test func theEndOfWhatWasNeverSeenIsKept() {
    let book = ApprovalBook(origin)
    #expect(resolve(book, "x", "\"deny\"") == nil)
    #expect(list(book, ["x"]).isEmpty, "the list is older than the event")
    guard case .over("deny"?, _) = book.fate(of: "x") else { return #expect(Bool(false)) }
  }

  @Test(arguments: [
    ("\"allow-once\"", ApprovalRecord.State.approved), ("\"allow-always\"", .approved),
    ("\"deny\"", .rejected), ("null", .expired), ("\"expired\"", .expired),
    ("\"allow-everything\"", .cancelled), ("7", .expired),
  ])
  func nothingIsApprovedByAWordThatIsNotKnown(word: String, state: ApprovalRecord.State) {
    let book = ApprovalBook(origin)
    _ = list(book, ["a"])
    #expect(resolve(book, "a", word)?.state == state)
  }

  @Test func bothKindsAreToldApart() {
    #expect(ApprovalBook.Kind(event: "exec.approval.requested") == .exec)
    #expect(ApprovalBook.Kind(event: "plugin.approval.resolved") == .plugin)
    #expect(ApprovalBook.Kind(event: "exec.approvals.changed") == nil)
    #expect(ApprovalBook.Kind(event: "other.approval.requested") == nil)
  }

  @Test func memoryIsBounded() {
    let book = ApprovalBook(origin, most: 3, bytes: 10_000)
    _ = list(book, ["a", "b", "c", "d"])
    guard case .unknown = book.fate(of: "a") else { return #expect(Bool(false)) }
    let large = #","env":"\#(String(repeating: "x", count: 9_990))""#
    _ = with(asks("e", large)) { book.receive(.exec, requested: $0) }
    guard case .unknown = book.fate(of: "d"), case .waits = book.fate(of: "e") else {
      return #expect(Bool(false), "the newest stays")
    }
    for number in 0..<10 { _ = resolve(book, "n\(number)", "\"deny\"") }
    guard case .unknown = book.fate(of: "n0") else { return #expect(Bool(false)) }
  }

  @Test func theFirstThatExpiresIsLookedFor() {
    let book = ApprovalBook(origin)
    #expect(book.nextExpiry == nil)
    _ = list(book, ["a"])
    #expect(book.nextExpiry == Timestamp(seconds: 1_790_001_800))
    _ = resolve(book, "a", "\"deny\"")
    #expect(book.nextExpiry == nil)
  }

  @Test func methodsGetTheScopeThatTheyNeed() {
    #expect(GatewayOperations.scopes(of: "models.list") == [.read])
    #expect(GatewayOperations.scopes(of: "device.pair.approve") == [.pairing])
    #expect(GatewayOperations.scopes(of: "exec.approval.list") == [.approvals])
    #expect(GatewayOperations.scopes(of: "exec.approvals.set") == [.admin])
    #expect(GatewayOperations.scopes(of: "sessions.delete") == [.read, .write])
  }
}
