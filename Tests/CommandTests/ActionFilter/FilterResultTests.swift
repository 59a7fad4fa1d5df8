import Core
import Records
import Testing

@testable import action_filter

@Suite struct CostSumTests {
  func sum(_ amounts: [String], times: Int = 1) -> String {
    var sum = CostSum()
    for amount in amounts {
      Array(amount.utf8).withUnsafeBytes { bytes in
        for _ in 0..<times { sum.add(ScanValue(bytes)) }
      }
    }
    return sum.text
  }

  @Test(arguments: [
    ([], "0"), (["0.1", "0.2"], "0.3"), (["0.30000000000000004"], "0.30000000000000004"),
    (["4e-7"], "0.0000004"), (["1e-30", "1"], "1.000000000000000000000000000001"),
    (["1e17", "0.25", "-1e17"], "0.25"), (["-1.5"], "-1.5"), (["12", "0.5"], "12.5"),
    (["1e20"], "100000000000000000000"), (["1e21"], "1e21"), (["1e30"], "1e30"),
    (["1.25e-30"], "1.25e-30"), (["1e-20"], "0.00000000000000000001"), (["1e-21"], "1e-21"),
    (["-0", "-0.0", "0e5"], "0"), (["-1", "1"], "0"), (["-1e300", "1e300", "-1e-300"], "-1e-300"),
    (["null", #""1""#, "true", "[1]", "{}"], "0"), (["1E+2", "1e-2"], "100.01"),
    (["9007199254740993", "0.9007199254740993"], "9007199254740993.9007199254740993"),
    (["9999999999999999999", "1"], "10000000000000000000"),
    (
      ["-170000000000", "-170000000000", "0.000000000000000000000000001"],
      "-339999999999.999999999999999999999999999"
    ),
    // What no double holds is no amount, and no digit behind the 400th counts.
    (["1e999999999", "-1e309", "2e308", "1"], "2." + String(repeating: "0", count: 307) + "1e308"),
    (["1e-999999999", "1e-401", "3e-400"], "3e-400"), (["1e999999999999999999999999"], "0"),
    (["1e-0000000000000000000000000000000000002"], "0.01"),
  ])
  func isExact(amounts: [String], text: String) {
    #expect(sum(amounts) == text)
  }

  @Test func doesNotDrift() {
    #expect(sum(["0.1"], times: 1_000_000) == "100000")
    #expect(sum(["0.0001"], times: 12_345) == "1.2345")
    // Beyond 128 bits and back.
    #expect(sum(["40000000000", "-39999999999.5"], times: 20_000) == "10000")
    #expect(sum(["1e308"], times: 20_000) == "2e312")
  }
}

@Suite struct TallyTests {
  func tally(_ key: GroupKey, _ actions: [String]) -> [String] {
    var tally = Tally(Grouping(keys: [key]))
    let scratch = ScanScratch()
    for action in actions {
      Array(action.utf8).withUnsafeBytes { bytes in
        if let fields = try? ActionFields(bytes) { tally.add(fields, .absent, scratch) }
      }
    }
    var records: [String] = []
    try? tally.forEachRecord { records.append($0) }
    return records
  }

  @Test func mostFirstThenByName() {
    let actions = [
      #"{"kind":"b","usd_cost":0.1}"#, #"{"kind":"c"}"#, #"{"kind":"\u0062","usdCost":0.2}"#, "{}",
      #"{"kind":"a\"","usd_cost":"1"}"#, #"{"kind":"b","usd_cost":1e400}"#,
    ]
    #expect(
      tally(.kind, actions) == [
        #"{"type":"count","kind":"b","count":3,"usd_cost":0.3}"#,
        #"{"type":"count","kind":"a\"","count":1,"usd_cost":0}"#,
        #"{"type":"count","kind":"c","count":1,"usd_cost":0}"#,
        #"{"type":"count","kind":null,"count":1,"usd_cost":0}"#,
      ])
  }

  @Test func otherMembers() {
    let actions = [
      #"{"kind":"llm_call","guildId":5,"user_id":"u","created_at":"2026-03-01T12:59:59.9+01:00"}"#
    ]
    func group(_ name: String) -> [String] {
      [#"{"type":"count",\#(name),"count":1,"usd_cost":0}"#]
    }
    #expect(tally(.domain, actions) == group(#""domain":"llm""#))
    #expect(tally(.guild, actions) == group(#""guild":"5""#))
    #expect(tally(.user, actions) == group(#""user":"u""#))
    #expect(tally(.hour, actions) == group(#""hour":"2026-03-01T11:00:00.000Z""#))
    #expect(tally(.hour, ["{}"]) == group(#""hour":null"#))
  }

  @Test func manyGroups() {
    let actions = (0..<3000).map { #"{"kind":"kind_\#($0 % 1000)","usd_cost":1}"# }
    let records = tally(.kind, actions)
    #expect(records.count == 1000)
    #expect(records.allSatisfy { $0.hasSuffix(#""count":3,"usd_cost":3}"#) })
  }
}

@Suite struct RowListTests {
  func order(_ rows: [String], _ options: [String] = []) -> [String] {
    guard
      let filter = try? FilterOptions.table.parse(
        options, FilterOptions(now: Timestamp(seconds: 0)))
    else { return [] }
    let line = #"{"actions":["# + rows.joined(separator: " , ") + "]}"
    return Array(line.utf8).withUnsafeBytes { bytes in
      let list = RowList(filter)
      var record = RecordScan()
      guard (try? record.read(bytes, rows: list)) == .list, record.hasReadRows else { return [] }
      return list.oldestFirst().map {
        ((try? ScanMembers.value(of: "kind", in: $0.bytes)) ?? .absent).string ?? "?"
      }
    }
  }

  @Test func oldestFirstByInstantThenByID() {
    #expect(
      order([
        #"{"id":12,"kind":"d","created_at":"2026-03-01T12:00:01.000Z"}"#,
        #"{"id":9,"kind":"b","created_at":"2026-03-01T12:00:00.000Z"}"#,
        #"{"id":10,"kind":"c","created_at":"2026-03-01T13:00:00.000+01:00"}"#,
        #"{"id":99,"kind":"a","created_at":"2026-03-01T11:59:59.999Z"}"#,
      ]) == ["a", "b", "c", "d"])
  }

  @Test func withoutIDsTheListIsReadBackwards() {
    let time = #""created_at":"2026-03-01T12:00:00Z""#
    #expect(order([#"{"kind":"b",\#(time)}"#, #"{"kind":"a",\#(time)}"#]) == ["a", "b"])
    #expect(order([#"{"kind":"c"}"#, #"{"kind":"b"}"#, #"{"kind":"a"}"#]) == ["a", "b", "c"])
    #expect(
      order([
        #"{"kind":"c","created_at":"2026-03-01T12:00:00Z"}"#, #"{"kind":"b"}"#,
        #"{"kind":"a","created_at":"2026-03-01T11:00:00Z"}"#,
      ]) == ["a", "b", "c"])
  }

  /// A row without a time follows its neighbour, even one that is not selected.
  @Test func selectsBeforeItOrders() {
    let rows = [
      #"{"kind":"c","created_at":"2026-03-01T12:00:01Z"}"#, #"{"kind":"a"}"#, #"{"kind":"b"}"#,
      #"{"kind":"x","created_at":"2026-03-01T12:00:02Z"}"#,
      #"{"kind":"d","created_at":"2026-03-01T12:00:01Z"}"#, #"{"kind":"e"}"#,
    ]
    #expect(order(rows) == ["e", "d", "c", "x", "b", "a"])
    #expect(order(rows, ["-v", "-k", "x"]) == ["e", "d", "c", "b", "a"])
    #expect(order(rows, ["-k", "a,c"]) == ["c", "a"])
    #expect(order([], []) == [])
  }
}
