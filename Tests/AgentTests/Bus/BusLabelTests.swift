import Core
import Testing

@testable import Bus

@Suite struct BusLabelTests {
  private static func label(_ line: String, _ labels: inout BusLabels) throws -> BusLabel {
    try Array(line.utf8).withUnsafeBytes { try labels.label($0) }
  }

  private static func subject(_ line: String) throws -> String {
    var labels = BusLabels(ids: .none, subject: nil, prefix: nil)
    return try label(line, &labels).subject
  }

  @Test(arguments: [
    (#"{"kind":"daily","guildId":"17","createdAt":"x"}"#, "actions.17.daily"),
    (
      #"{"event":"action_event","id":"3","data":{"kind":"daily","guild_id":17}}"#,
      "actions.17.daily"
    ),
    (#"{"kind":"daily"}"#, "actions.-.daily"),
    (#"{"kind":"a.b *>","guild_id":""}"#, "actions.-.a%2Eb%20%2A%3E"),
    (#"{"type":"health","ok":true}"#, "records.health"),
    (#"{"event":"stats_update","data":{"stats":{}}}"#, "events.stats_update"),
    (#"{"event":"activity_snapshot","data":{"actions":[]}}"#, "events.activity_snapshot"),
    (#"{"actions":[]}"#, "events.activity_snapshot"),
    (#"{"event":"foo.bar","id":"","data":1}"#, "events.foo%2Ebar"),
    (#"{"sessionId":"s","guildId":"9","participants":[]}"#, "voice.9"),
    (#"{"sessionId":"s","participants":[]}"#, "voice.-"),
    (#"{"sessionId":"s"}"#, "records.-"),
    (#"{"a":1}"#, "records.-"),
  ])
  func subjectsAreToldFromTheRecord(line: String, subject: String) throws {
    #expect(try Self.subject(line) == subject)
  }

  @Test func aTokenIsNeverALevelOrAWildcard() {
    for scalar in 0..<0x250 {
      let token = BusSubject.token(String(UnicodeScalar(UInt32(scalar))!))
      #expect(token.utf8.allSatisfy { BusSubject.isPlain($0) || $0 == UInt8(ascii: "%") })
    }
    #expect(BusSubject.token(nil) == "-" && BusSubject.token("") == "-")
    #expect(BusSubject.token(String(repeating: "a", count: 99)).utf8.count == 64)
    // 21 escapes of three bytes, and no half of one.
    #expect(BusSubject.token(String(repeating: ".", count: 99)).utf8.count == 63)
  }

  @Test func aRowAndItsLiveSpellingAreOne() throws {
    var labels = BusLabels(ids: .digest, subject: nil, prefix: nil)
    var again = BusLabels(ids: .digest, subject: nil, prefix: nil)
    let long = String(repeating: "x", count: 2000)
    let row = try Self.label(
      #"{"id":41,"created_at":"t","kind":"daily","guild_id":"1","channel_id":null,"content":"\#(long)"}"#,
      &labels)
    let live = try Self.label(
      #"{"event":"action_event","id":"7","data":{"kind":"daily","guildId":"1","content":"\#(long)yz","createdAt":"t"}}"#,
      &again)
    #expect(row.id == live.id && row.id?.count == 26)
    let other = try Self.label(#"{"created_at":"t","kind":"daily","guild_id":"2"}"#, &labels)
    #expect(other.id != row.id)
  }

  @Test func equalRecordsAreCounted() throws {
    var labels = BusLabels(ids: .digest, subject: nil, prefix: nil)
    let line = #"{"created_at":"t","kind":"daily"}"#
    let ids = try (1...3).map { _ in try Self.label(line, &labels).id! }
    #expect(ids.map { $0.split(separator: ".")[1] } == ["1", "2", "3"])
    #expect(Set(ids.map { $0.split(separator: ".")[0] }).count == 1)
    var other = BusLabels(ids: .digest, subject: nil, prefix: "b")
    let label = try Self.label(line, &other)
    #expect(label.id != ids[0] && label.subject == "b.actions.-.daily")
  }

  @Test func oldCountsAreForgotten() {
    var counts = EqualCounts(capacity: 2)
    let keys = (0..<3).map { RecordDigest([UInt8](repeating: UInt8($0), count: 32)) }
    #expect(counts.count(keys[0]) == 1)
    #expect(counts.count(keys[0]) == 2)
    #expect(counts.count(keys[1]) == 1)
    #expect(counts.count(keys[2]) == 1)
    #expect(counts.count(keys[0]) == 1)
    #expect(keys[1].text == String(repeating: "01", count: 12))
  }

  @Test func aMemberCanBeTheID() throws {
    var labels = BusLabels(ids: .member(try JSONPointer("/data/id")), subject: "s", prefix: nil)
    #expect(try Self.label(#" {"data":{"id":"a-1"}} "#, &labels).id == "a-1")
    #expect(try Self.label(#"{"data":{"id":17}}"#, &labels).id == "17")
    let strange = try Self.label(#"{"data":{"id":"a\r\nb"}}"#, &labels).id
    #expect(strange?.count == 24 && strange?.utf8.allSatisfy(BusSubject.isPlain) == true)
    #expect(throws: Failure.self) { try Self.label(#"{"data":{}}"#, &labels) }
  }

  @Test(arguments: ["", "[]", "{", "{\"a\":01}", "{} x", "null", "{\"a\":\"\u{1}\"}"])
  func whatIsNoObjectIsRefused(line: String) {
    var labels = BusLabels(ids: .digest, subject: nil, prefix: nil)
    #expect(throws: Failure.self) { try Self.label(line, &labels) }
  }

  @Test func marksAreOfTheEvent() throws {
    var labels = BusLabels(ids: .digest, subject: nil, prefix: nil, wantsMark: true)
    let event = try Self.label(
      #"{"event":"action_event","id":"17","data":{"kind":"k","createdAt":"t"}}"#, &labels)
    #expect(event.event == "17" && event.created == "t")
    let bare = try Self.label(#"{"kind":"k","created_at":"t","id":9}"#, &labels)
    #expect(bare.event == nil && bare.created == "t")
  }

  @Test func filtersMayHaveWildcards() {
    for good in ["actions.>", "actions.*.llm_call", "a", ">", "*"] {
      #expect(BusSubject.fault(ofFilter: good) == nil, "\(good)")
    }
    for bad in ["", "a..b", ".a", "a.", "a b", "$JS.API", ">.a", "a*", "ä", "a\n"] {
      #expect(BusSubject.fault(ofFilter: bad) != nil, "\(bad)")
    }
    #expect(BusSubject.fault(of: "a.*") != nil && BusSubject.fault(of: "a.b") == nil)
  }
}
