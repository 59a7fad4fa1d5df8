import Core
import Records
import Testing

@testable import Agent

/// What a reconnect has missed (Agent/Clanky/CONTRACT.md 2.3).
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

  /// The ids of what was missed, and how far back the rows go.
  private func missed(_ ledger: inout ActivityLedger, rows: [String], snapshot: String)
    -> (ids: [String], reach: ActivityLedger.Reach)
  {
    let rows = rows.map { Array($0.utf8) }
    let reach = ledger.reach(of: rows)
    let found = with(snapshot) { ledger.missed(in: rows, snapshot: $0) }
    return (found.map { ActionPages.Row($0).id }, reach)
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

  @Test func missingRowsAreThoseBetween() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    with(Self.live(6)) { ledger.note(live: $0) }
    let next = Self.snapshot(Self.newestFirst(20...25))
    let found = missed(&ledger, rows: Self.newestFirst(1...27), snapshot: next)
    // 26 and 27 come live; 20 to 25 with the snapshot.
    #expect(found.ids == (7...19).reversed().map(String.init))
    #expect(found.reach == .whole)
  }

  @Test func twinsPrintedInPartAreAllSent() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    with(Self.live(3, content: "twin")) { ledger.note(live: $0) }
    with(Self.live(3, content: "twin")) { ledger.note(live: $0) }
    let twins = [5, 4, 3].map { Self.row(3, id: $0, content: "twin") }
    let next = Self.snapshot([Self.row(9)])
    let found = missed(
      &ledger, rows: [Self.row(9)] + twins + Self.newestFirst(1...2), snapshot: next)
    // A reader that knows two by their key finds the third only among all.
    #expect(found.ids == ["5", "4", "3"])
    #expect(found.reach == .whole)
  }

  @Test func twinsPrintedWholeAreNotSentAgain() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    for _ in 1...2 { with(Self.live(3, content: "twin")) { ledger.note(live: $0) } }
    let rows = [Self.row(9)] + [4, 3].map { Self.row(3, id: $0, content: "twin") }
    let found = missed(&ledger, rows: rows, snapshot: Self.snapshot([Self.row(9)]))
    #expect(found.ids == [])
    #expect(found.reach == .whole)
  }

  /// The snapshot ends between two equal rows, one of which was printed live:
  /// the reader counts the snapshot's row for the live one.
  @Test func twinsOnTheSnapshotsEdgeAreAllSent() {
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
    let found = missed(&ledger, rows: [Self.row(9), edge, beyond, Self.row(1)], snapshot: next)
    // What comes before the missing row comes with it, and again in the snapshot.
    #expect(found.ids == ["6", "5"])
    for row in [edge, beyond, edge, Self.row(9)] { read(row, .row) }
    #expect(passed == 3)
  }

  @Test func contentOfARowIsCut() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    let long = String(repeating: "ä", count: 2100)
    with(Self.live(3, content: long)) { ledger.note(live: $0) }
    let cut = Self.row(3, content: String(repeating: "ä", count: 2000))
    let found = missed(
      &ledger, rows: [Self.row(9), cut, Self.row(2)], snapshot: Self.snapshot([Self.row(9)]))
    #expect(found.ids == [])
  }

  @Test func aFullAnswerThatDoesNotReachLeavesAGap() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(2000...2219))
    let found = missed(&ledger, rows: Self.newestFirst(1220...2219), snapshot: next)
    #expect(found.ids.count == 780)
    #expect(found.reach == .short)
  }

  @Test func aFullAnswerThatJustReachesLeavesNone() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(800...1004))
    let found = missed(&ledger, rows: Self.newestFirst(5...1004), snapshot: next)
    #expect(found.ids.count == 794)
    // A twin of the oldest may be cut off.
    #expect(found.reach == .edge)
  }

  @Test func anEmptyStartMissesAll() {
    var ledger = ActivityLedger()
    with(Self.snapshot([])) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(11...20))
    #expect(!with(next) { ledger.isReached(by: $0) })
    let found = missed(&ledger, rows: Self.newestFirst(1...20), snapshot: next)
    #expect(found.ids.count == 10)
    #expect(found.reach == .whole)
  }

  @Test func rowsOlderThanTheStartAreNotMissing() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(10...12))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(15...16))
    let found = missed(&ledger, rows: Self.newestFirst(1...16), snapshot: next)
    #expect(found.ids == ["14", "13"])
  }

  @Test func anEarlierRunGoesOn() {
    var ledger = ActivityLedger(resumingAt: Self.time(5))
    let next = Self.snapshot(Self.newestFirst(15...16))
    #expect(!with(next) { ledger.isReached(by: $0) })
    let found = missed(&ledger, rows: Self.newestFirst(1...16), snapshot: next)
    // The newest of the earlier run may come twice, never not at all.
    #expect(found.ids == (5...14).reversed().map(String.init))
  }

  @Test func theBorderToTheSnapshotIsInOrder() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...2))) { ledger.note(snapshot: $0) }
    // One instant, whose rows come in the order of their ids, is cut.
    let ties = (10...14).map { (n: Int) in Self.row(5, id: n, content: "c\(n)") }
    let later = [Self.row(6, id: 16), Self.row(6, id: 15, content: "x")]
    let next = Self.snapshot(later + ties[..<2])
    let all = later + [Self.row(6, id: 17, content: "y")] + ties + [Self.row(1)]
    let found = missed(&ledger, rows: all, snapshot: next)
    // 17 is newer than the snapshot: it comes live.
    #expect(found.ids == ["14", "13", "12", "11", "10"])
    let lower = missed(
      &ledger, rows: [Self.row(8, id: 21), Self.row(8, id: 20)],
      snapshot: Self.snapshot([Self.row(8, id: 21)]))
    #expect(lower.ids == ["20"])
  }

  @Test func theGapIsWhatIsKnown() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    let next = Self.snapshot(Self.newestFirst(2000...2219))
    let all = with(next) { ledger.gap([], before: $0) }
    #expect((all.after, all.before) == (Self.time(5), Self.time(2000)))
    #expect(all.parts.isEmpty)
    let times = [300, 700].compactMap { Timestamp(rfc3339: Self.time($0)) }
    let unreached = times.map { ActionPages.Unreached(kind: "llm_call", guild: "1", before: $0) }
    let gap = with(next) { ledger.gap(unreached, before: $0) }
    #expect(gap.before == Self.time(700))
    #expect(gap.parts.map(\.words) == unreached.map(\.words))
  }

  @Test func namesAreThoseOfEverythingSeen() {
    var ledger = ActivityLedger()
    with(Self.snapshot(Self.newestFirst(1...5))) { ledger.note(snapshot: $0) }
    with(#"{"kind":"new","guildId":"7","createdAt":"\#(Self.time(6))"}"#) { ledger.note(live: $0) }
    #expect(ledger.names.kinds == ["llm_call", "new"])
    #expect(ledger.names.guilds == ["1", "7"])
  }

  @Test func nonsenseIsNoRows() {
    var ledger = ActivityLedger()
    with(Self.snapshot([])) { ledger.note(snapshot: $0) }
    let odd = missed(
      &ledger, rows: ["1", "null", "{}", "{\"created_at\":5}"], snapshot: "not json")
    #expect(odd.ids == [])
  }
}
