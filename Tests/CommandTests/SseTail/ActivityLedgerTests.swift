import Core
import Testing

@testable import sse_tail

/// What a reconnect has missed, by the contract of the dashboard's stream.
@Suite struct ActivityLedgerTests {
  /// Action n happens n milliseconds after noon; row and live spelling.
  private static func time(_ n: Int) -> String {
    let text = String(n + 1000).suffix(3)
    return "2026-05-09T12:00:\(10 + n / 1000).\(text)Z"
  }

  private static func row(_ n: Int, id: Int? = nil, content: String? = nil) -> String {
    """
    {"id":\(id ?? n),"created_at":"\(time(n))","guild_id":"1","channel_id":null,\
    "message_id":null,"user_id":null,"kind":"llm_call","content":"\(content ?? "c\(n)")",\
    "metadata":null,"usd_cost":0}
    """
  }

  private static func live(_ n: Int, content: String? = nil) -> String {
    """
    {"kind":"llm_call","guildId":"1","content":"\(content ?? "c\(n)")","createdAt":"\(time(n))"}
    """
  }

  private static func snapshot(_ rows: [String]) -> String {
    "{\"actions\":[\(rows.joined(separator: ","))],\"stats\":{}}"
  }

  private static func newestFirst(_ range: ClosedRange<Int>) -> [String] {
    range.reversed().map { row($0) }
  }

  private func with<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes(body)
  }

  private func missed(_ ledger: inout ActivityLedger, rows: [String], snapshot: String)
    -> (ids: [String], gap: ActivityLedger.Gap?)?
  {
    let answer = with("[\(rows.joined(separator: ","))]") { answer in
      with(snapshot) { ledger.missed(in: answer, snapshot: $0) }
    }
    guard let answer else { return nil }
    let ids = answer.rows.map { row in
      row.withUnsafeBytes { (try? ActionFields($0))?.id.string ?? "?" }
    }
    return (ids, answer.gap)
  }

  @Test func firstSnapshotIsTheBaseline() {
    var ledger = ActivityLedger()
    let first = Self.snapshot(Self.newestFirst(1...5))
    #expect(with(first) { ledger.isReached(by: $0) })
    with(first) { ledger.note(snapshot: $0) }
    #expect(ledger.newestText == Self.time(5))
  }

  @Test func anOlderRowProvesTheReach() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    with(Self.live(6)) { ledger.note(live: $0) }
    #expect(with(Self.snapshot(Self.newestFirst(5...9))) { ledger.isReached(by: $0) })
    // The newest itself does not: a twin of its millisecond may be cut off.
    #expect(!with(Self.snapshot(Self.newestFirst(6...9))) { ledger.isReached(by: $0) })
    #expect(!with(Self.snapshot(Self.newestFirst(7...9))) { ledger.isReached(by: $0) })
  }

  @Test func missingRowsAreThoseBetween() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    with(Self.live(6)) { ledger.note(live: $0) }
    let next = Self.snapshot(Self.newestFirst(20...25))
    let found = try #require(
      missed(&ledger, rows: Self.newestFirst(1...27), snapshot: next))
    // 26 and 27 come live; 20 to 25 with the snapshot.
    #expect(found.ids == (7...19).reversed().map(String.init))
    #expect(found.gap == nil)
  }

  @Test func twinsPrintedInPartAreAllSent() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    with(Self.live(3, content: "twin")) { ledger.note(live: $0) }
    with(Self.live(3, content: "twin")) { ledger.note(live: $0) }
    let twins = [5, 4, 3].map { Self.row(3, id: $0, content: "twin") }
    let next = Self.snapshot([Self.row(9)])
    let found = try #require(
      missed(&ledger, rows: [Self.row(9)] + twins + Self.newestFirst(1...2), snapshot: next))
    // A reader that knows two by their key finds the third only among all.
    #expect(found.ids == ["5", "4", "3"])
    #expect(found.gap == nil)
  }

  @Test func twinsPrintedWholeAreNotSentAgain() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    for _ in 1...2 { with(Self.live(3, content: "twin")) { ledger.note(live: $0) } }
    let rows = [Self.row(9)] + [4, 3].map { Self.row(3, id: $0, content: "twin") }
    let found = try #require(missed(&ledger, rows: rows, snapshot: Self.snapshot([Self.row(9)])))
    #expect(found.ids == [])
    #expect(found.gap == nil)
  }

  /// The snapshot ends between two equal rows, one of which was printed live:
  /// the reader counts the snapshot's row for the live one.
  @Test func twinsOnTheSnapshotsEdgeAreAllSent() throws {
    var ledger = ActivityLedger()
    var reader = ActionWindow()
    var passed = 0
    func read(_ text: String, _ source: ActionWindow.Source) {
      let isNew = with(text) { bytes in
        guard let fields = try? ActionFields(bytes) else { return false }
        let scratch = ScanScratch()
        let id = fields.id.rawText.map { ActionKey(text: scratch.text(of: $0)) }
        return reader.isNew(id: id, key: ActionKey(fields, scratch: scratch), source: source)
      }
      if isNew { passed += 1 }
    }
    with(Self.snapshot([Self.row(1)])) { ledger.note(snapshot: $0) }
    with(Self.live(3, content: "twin")) { ledger.note(live: $0) }
    read(Self.live(3, content: "twin"), .actionEvent)
    let edge = Self.row(3, id: 5, content: "twin")
    let beyond = Self.row(3, id: 6, content: "twin")
    let next = Self.snapshot([Self.row(9), edge])
    let found = try #require(
      missed(&ledger, rows: [Self.row(9), edge, beyond, Self.row(1)], snapshot: next))
    #expect(found.ids == ["6"])
    for row in [beyond, edge, Self.row(9)] { read(row, .row) }
    #expect(passed == 3)
  }

  @Test func contentOfARowIsCut() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    let long = String(repeating: "ä", count: 2100)
    with(Self.live(3, content: long)) { ledger.note(live: $0) }
    let cut = Self.row(3, content: String(repeating: "ä", count: 2000))
    let found = try #require(
      missed(
        &ledger, rows: [Self.row(9), cut, Self.row(2)], snapshot: Self.snapshot([Self.row(9)])))
    #expect(found.ids == [])
  }

  @Test func aFullAnswerThatDoesNotReachLeavesAGap() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(2000...2219))
    let found = try #require(
      missed(&ledger, rows: Self.newestFirst(1220...2219), snapshot: next))
    #expect(found.ids.count == 780)
    #expect(found.gap == ActivityLedger.Gap(after: Self.time(5), before: Self.time(1220)))
  }

  @Test func aFullAnswerThatJustReachesLeavesNone() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(800...1004))
    let found = try #require(missed(&ledger, rows: Self.newestFirst(5...1004), snapshot: next))
    #expect(found.ids.count == 794)
    #expect(found.gap == nil)
  }

  @Test func anEmptyStartMissesAll() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot([])) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(11...20))
    #expect(!with(next) { ledger.isReached(by: $0) })
    let found = try #require(missed(&ledger, rows: Self.newestFirst(1...20), snapshot: next))
    #expect(found.ids.count == 10)
    #expect(found.gap == nil)
  }

  @Test func rowsOlderThanTheStartAreNotMissing() throws {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(10...12))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(15...16))
    let found = try #require(missed(&ledger, rows: Self.newestFirst(1...16), snapshot: next))
    #expect(found.ids == ["14", "13"])
  }

  @Test func anEarlierRunGoesOn() throws {
    var ledger = ActivityLedger(resumingAt: Self.time(5))
    let next = Self.snapshot(Self.newestFirst(15...16))
    #expect(!with(next) { ledger.isReached(by: $0) })
    let found = try #require(missed(&ledger, rows: Self.newestFirst(1...16), snapshot: next))
    // The newest of the earlier run may come twice, never not at all.
    #expect(found.ids == (5...14).reversed().map(String.init))
  }

  @Test func nonsenseIsNoRows() {
    var ledger = ActivityLedger()
    with(Self.snapshot([])) { ledger.note(snapshot: $0) }
    #expect(missed(&ledger, rows: ["{"], snapshot: Self.snapshot([])) == nil)
    let odd = missed(
      &ledger, rows: ["1", "null", "{}", "{\"created_at\":5}"], snapshot: "not json")
    #expect(odd?.ids == [])
  }
}
