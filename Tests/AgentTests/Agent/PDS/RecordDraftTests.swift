import Core
import Testing

@testable import Agent

struct RecordDraftTests {
  private static let task = NSID("dev.joelclaw.task.item")!

  private func draft(
    _ text: String, _ collection: String = "dev.joelclaw.task.item", created: Timestamp? = nil
  ) throws(Failure) -> RecordDraft {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBytes { pointer in
      Result<RecordDraft, Failure> { () throws(Failure) in
        try RecordDraft(pointer, for: NSID(collection)!, created: created)
      }
    }
    return try result.get()
  }

  private func fault(_ text: String) -> String? {
    do throws(Failure) { _ = try draft(text) } catch { return error.reason }
    return nil
  }

  @Test func namesThatLookAlikeAreTwo() throws {
    #expect(fault(#"{"\u00e9":1,"e\u0301":2}"#) == nil)
    #expect(fault(#"{"e\u0301":1,"e\u0301":2}"#) == "two members of one name: e\u{301}")
  }

  @Test(arguments: [
    ("AQI=", true), ("AQI", true), ("", true), ("-_8", false), ("AQI==", true), ("A=QI", true),
    ("+/8=", true), ("a-b!", true),
  ])
  func bytesAreWhatServersTake(_ code: String, _ isTaken: Bool) {
    #expect((fault(#"{"b":{"$bytes":"\#(code)"}}"#) == nil) == isTaken)
  }

  /// Records and what they are called, from implementations of others.
  @Test(
    arguments: [
      (
        #"{"$type":"dev.joelclaw.task.item","title":"fixed"}"#,
        "bafyreighusodssr3fxenpbozzqmenwm3lqbmygrtjwm4k65jnmwfk2pwk4"
      ),
      (
        #"{"title":"buy milk","status":"open","priority":2,"createdAt":"2026-11-21T08:00:00.000Z"}"#,
        "bafyreiaijfngjzon52shdyo3yvmgtfl6uwsb2iwtq563asehjvyyjgfazq"
      ),
      (
        #"{"title":"naïve café ☕","labels":["home","errand"],"done":false,"parent":null}"#,
        "bafyreicg4n73d4jlb7dehbjd5ds4txzdksmydxnpuqvakca2z5jkkrs6s4"
      ),
    ])
  func namesWhatItHolds(_ text: String, _ cid: String) throws {
    #expect(try draft(text).cid.description == cid)
  }

  @Test func namesNumbersAndLists() throws {
    let health =
      #"{"date":"2026-11-20","steps":8123,"sleepMin":402,"hrvDeciMs":425,"deltaC":-3,"notes":[]}"#
    #expect(
      try draft(health, "dev.joelclaw.health.daily").cid.description
        == "bafyreig57ydehyztoywdr6k22ny35fqihmvpvy6eeihxgmhrfihr5ef7xe")
    let list =
      #"{"title":"groceries","items":[{"id":"3n2sa5bl3zz22","text":"paper towels","qty":2},"#
      + #"{"id":"3n2sa5bl3zz23","text":"9V battery","qty":1}]}"#
    #expect(
      try draft(list, "dev.joelclaw.family.list").cid.description
        == "bafyreicdfxllwwa36ljetlinqpidjb6gurtgtxcx3znczxuuxvnhiqpoom")
  }

  @Test func addsWhatIsMissingAndKeepsTheRest() throws {
    let time = Timestamp(seconds: 0)
    let given = #" {"b" : 1, "a":"\u00e9" }"#
    let bytes = try draft(given, created: time).bytes
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"$type":"dev.joelclaw.task.item","createdAt":"1970-01-01T00:00:00.000Z","b" : 1, "a":"\u00e9" }"#
    )
    let whole = #"{"createdAt":"x","$type":"dev.joelclaw.task.item"}"#
    #expect(try String(decoding: draft(whole, created: time).bytes, as: UTF8.self) == whole)
    #expect(
      try String(decoding: draft("{}").bytes, as: UTF8.self)
        == #"{"$type":"dev.joelclaw.task.item"}"#)
  }

  @Test func refusesWhatNoRecordHolds() {
    #expect(fault(#"{"w":1.5}"#) == "no floats in records: 1.5")
    #expect(fault(#"{"w":[{"x":1e3}]}"#) == "no floats in records: 1e3")
    #expect(fault(#"{"w":9007199254740992}"#) == "a number over 53 bits: 9007199254740992")
    #expect(fault(#"{"w":-9007199254740991}"#) == nil)
    #expect(fault(#"{"w":99999999999999999999999}"#)?.hasPrefix("a number over 53") == true)
    #expect(fault(#"{"a":1,"\u0061":2}"#) == "two members of one name: a")
    #expect(fault(#"{"$type":"com.example.other"}"#) == "its $type is not dev.joelclaw.task.item")
    #expect(fault(#"{"$type":7}"#) == "its $type is not dev.joelclaw.task.item")
    #expect(fault("[1]") == "not an object")
    #expect(fault(#"{"a":1"#) != nil)
    #expect(fault(#"{"l":{"$link":"nonsense"}}"#) == nil)
    #expect(fault(#"{"l":{"$bytes":"*"}}"#) == nil)
    #expect(fault(#"{"l":{"$bytes":"-_8"}}"#) == "$bytes that are not base64")
    #expect(
      fault(#"{"l":\#(String(repeating: "[", count: 100))\#(String(repeating: "]", count: 100))}"#)
        == "nested too deep")
    #expect(
      fault(#"{"l":"\#(String(repeating: "x", count: 1_000_000))"}"#)?.hasPrefix("larger") == true)
  }

  @Test func readsLinksAndBytes() throws {
    let cid = CID(of: [0xf6])
    let bytes = Array(#"{"l":{"$link":"\#(cid)"},"b":{"$bytes":"AQID"},"m":{"$bytes":1}}"#.utf8)
    let tree = try bytes.withUnsafeBytes { try CBORValue.record($0) }
    #expect(tree["l"] == .link(cid))
    #expect(tree["b"] == .bytes([1, 2, 3]))
    #expect(tree["m"]?["$bytes"] == .integer(1))
  }
}
