import Core
import Testing

@testable import Agent

/// Keys that are times, the addresses of records, and the times in them, by the rules of the AT
/// Protocol.
struct PDSAddressTests {
  private static let digits = Array("234567abcdefghijklmnopqrstuvwxyz")

  // MARK: - Keys that are times

  @Test func aKeyOfTimeBeginsWithALowDigit() {
    for (index, digit) in Self.digits.enumerated() {
      let text = String(digit) + "mnopqrstuvwx"
      #expect((TID(text)?.description == text) == (index < 16), "\(text)")
      for at in 1..<13 {
        var text = Array("2222222222222")
        text[at] = digit
        #expect(TID(String(text)) != nil)
      }
    }
  }

  @Test(arguments: ["2222222222222", "2222222222223", "jzzzzzzzzzzzz", "3mabcdefghijk"])
  func takesTID(_ text: String) { #expect(TID(text)?.description == text) }

  @Test(
    arguments: [
      "", "2", "222222222222", "22222222222222", "k222222222222", "zzzzzzzzzzzzz", "0222222222222",
      "1222222222222", "8222222222222", "2222222222220", "2222222222221", "2222222222228",
      "2222222222229", "A222222222222", "222222222222A", "2222-222-2222", "2222 22222222",
      " 222222222222", "222222222222 ", "222222222222=", "222222222222\n", "22222222222é",
      "222222222222\u{661}",
    ])
  func refusesTID(_ text: String) { #expect(TID(text) == nil) }

  @Test func keysOfTimeSortAsTheirTimes() {
    let moments: [Int64] = [
      0, 1, 31, 32, 1023, 1024, 1_600_000_000_000_000, 1_796_000_000_123_456, 1 << 52, 1 << 53 - 1,
    ]
    for clock in [0, 1, 512, 1023] {
      let tids = moments.map { TID(microseconds: $0, clock: clock) }
      #expect(tids.map(\.microseconds) == moments)
      #expect(tids.map(\.description) == tids.map(\.description).sorted())
      #expect(tids.allSatisfy { TID($0.description) == $0 })
    }
    #expect(TID(microseconds: 0, clock: 0).description == "2222222222222")
    #expect(TID(microseconds: 0, clock: 1023).description == "22222222222zz")
    #expect(TID(microseconds: 1, clock: 0).description == "2222222222322")
    #expect(TID(microseconds: 1 << 53 - 1, clock: 1023).description == "bzzzzzzzzzzzz")
  }

  @Test func aClockNeverStandsStill() {
    var clock = TIDClock(clock: 5)
    let tids = [10.0, 10, 9, -1, 10.5, 10.5].map { clock.next(now: $0).description }
    #expect(tids == tids.sorted() && Set(tids).count == tids.count)
  }

  // MARK: - Addresses

  @Test(
    arguments: [
      "at://ada.test", "at://did:web:ada.test", "at://did:web:ada.test%3A99/a.b.c",
      "at://ada.test/dev.joelclaw.task.item", "at://did:a:b/a.b.c/~", "at://did:a:b/a.b.C/...",
      "at://did:a:b:c:d/a.b.c/e:f", "at://q.x/a.b.c/.d", "at://q.x/a.b.c/" + word(512),
      "at://did:a:" + word(2042) + "/a.b.c/d",
    ])
  func takesURI(_ text: String) { #expect(ATURI(text)?.description == text) }

  @Test(
    arguments: [
      // Not one at all.
      "", "a", "at", "at:", "at:/", "at://", "at:///", "ada.test", "ada.test/a.b.c/d",
      "//ada.test/a.b.c", "at:ada.test", "at:/ada.test", "at:///ada.test", "at//ada.test",
      "At://ada.test", "AT://ada.test", "aturi://ada.test", "http://ada.test", "at://at://ada.test",
      " at://ada.test",
      // Whose.
      "at://ada", "at://ada.7", "at://did", "at://did:", "at://did:a", "at://did:a:",
      "at://did:A:b",
      "at://me@ada.test", "at://@ada.test", "at://ada.test:99", "at://ada%2etest", "at://a.b-",
      // The collection.
      "at://ada.test/a", "at://ada.test/a.b", "at://ada.test/a.b/c", "at://ada.test/7.b.c",
      "at://ada.test/a.b.c-d", "at://ada.test/a.b.*", "at://ada.test/A", "at://ada.test/self",
      // The key.
      "at://ada.test/a.b.c/.", "at://ada.test/a.b.c/..", "at://ada.test/a.b.c/%",
      "at://ada.test/a.b.c/a b",
      "at://ada.test/a.b.c/%7E", "at://ada.test/a.b.c/@", "at://ada.test/a.b.c/$",
      "at://ada.test/a.b.c/" + word(513),
      // Slashes.
      "at://ada.test/", "at://ada.test//", "at://ada.test/a.b.c/", "at://ada.test//a.b.c",
      "at://ada.test/a.b.c//d", "at://ada.test/a.b.c/d/", "at://ada.test/a.b.c/d/e",
      "at://ada.test/a.b.c/d//", "at://did:a:b/",
      // What other URIs have behind them.
      "at://ada.test#", "at://ada.test#/a", "at://ada.test/#/a", "at://ada.test/a.b.c#/d",
      "at://ada.test/a.b.c/d#", "at://ada.test/a.b.c/d#/e/0", "at://ada.test?", "at://ada.test?a=b",
      "at://ada.test/a.b.c?a=b", "at://ada.test/a.b.c/d?", "at://ada.test/a.b.c/d?a=b#/c",
      "at://did:a:b?a", "at://did:a:b#a",
      // Its length.
      "at://did:a:" + word(2043) + "/a.b.c/d", "at://ada.test/a.b.c/" + word(9000),
    ])
  func refusesURI(_ text: String) { #expect(ATURI(text) == nil) }

  @Test func anAddressHasParts() throws {
    let uri = try #require(ATURI("at://Ada.Test/a.b.C/Self"))
    #expect(uri.repository.did == nil && uri.collection == NSID("a.b.C"))
    #expect(uri.key == RecordKey("Self"))
    #expect(uri.description == "at://ada.test/a.b.C/Self")
    #expect(uri.repository == Repository("aDA.tEST"))
    let other = try #require(ATURI("at://did:web:Ada.test"))
    #expect(other.repository.did == DID("did:web:Ada.test") && other.collection == nil)
    #expect(other.repository != Repository("did:web:ada.test") && other.key == nil)
  }

  private static func word(_ count: Int) -> String { PDSNameTests.word(count) }

  // MARK: - Times

  @Test(
    arguments: [
      ("2026-11-23T16:05:09Z", 1_795_449_909, 0),
      ("2026-11-23T16:05:09.1Z", 1_795_449_909, 100_000_000),
      ("2026-11-23T16:05:09.000000001Z", 1_795_449_909, 1),
      ("2026-11-23T16:05:09.12345678901234567890Z", 1_795_449_909, 123_456_789),
      ("2026-11-23T16:05:09+00:00", 1_795_449_909, 0),
      ("2026-11-23T21:50:09.5+05:45", 1_795_449_909, 500_000_000),
      ("2026-11-23T02:05:09-14:00", 1_795_449_909, 0),
      ("2026-11-24T07:05:09+15:00", 1_795_449_909, 0),
      ("1970-01-01T00:00:00.000Z", 0, 0), ("1969-12-31T23:59:59.999Z", -1, 999_000_000),
      ("2024-02-29T00:00:00Z", 1_709_164_800, 0), ("2000-02-29T12:00:00Z", 951_825_600, 0),
      ("9999-12-31T23:59:59Z", 253_402_300_799, 0), ("0010-01-01T00:00:00Z", -61_851_600_000, 0),
      // Of RFC 3339, and not of the protocol.
      ("2026-11-23t16:05:09z", 1_795_449_909, 0), ("2026-11-23 16:05:09Z", 1_795_449_909, 0),
      ("2026-11-23T16:05:09-00:00", 1_795_449_909, 0), ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
    ])
  func readsTime(_ text: String, _ seconds: Int, _ nanoseconds: Int) {
    #expect(
      Timestamp(rfc3339: text)
        == Timestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds)))
  }

  @Test(
    arguments: [
      "", "2026", "2026-11-23", "16:05:09Z", "2026-11-23T16:05Z", "2026-11-23T16Z",
      "2026-11-23T16:05:09",
      "2026-11-23T16:05:09.Z", "2026-11-23T16:05:09,5Z", "2026-11-23T16:05:09.5",
      "2026-11-23T16:05:9Z",
      "2026-11-23T6:05:09Z", "2026-1-23T16:05:09Z", "26-11-23T16:05:09Z", "02026-11-23T16:05:09Z",
      "+2026-11-23T16:05:09Z", "-2026-11-23T16:05:09Z", "2026-00-23T16:05:09Z",
      "2026-13-23T16:05:09Z",
      "2026-11-00T16:05:09Z", "2026-11-31T16:05:09Z", "2026-02-29T16:05:09Z",
      "1900-02-29T16:05:09Z",
      "2026-11-23T24:00:00Z", "2026-11-23T16:60:09Z", "2026-11-23T16:05:61Z",
      "2026-11-23T16:05:09+1:00",
      "2026-11-23T16:05:09+0100", "2026-11-23T16:05:09+01", "2026-11-23T16:05:09+24:00",
      "2026-11-23T16:05:09+01:60", "2026-11-23T16:05:09Z+01:00", "2026-11-23T16:05:09ZZ",
      "2026-11-23T16:05:09 Z", "2026-11-23T16:05:09 +01:00", " 2026-11-23T16:05:09Z",
      "2026-11-23T16:05:09Z ", "2026-11-23T16:05:09Z\n", "20261123T160509Z", "2026-W47-1T16:05:09Z",
      "2026/11/23T16:05:09Z", "2026-11-23T16.05.09Z", "2026-11-23T16:05:09GMT", "1795449909",
      "２026-11-23T16:05:09Z", "2026-11-23T16:05:09−01:00",
    ])
  func refusesTime(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }

  @Test func whatIsWrittenKeepsToTheProtocol() {
    for seconds in [-61_851_600_000, -1, 0, 951_825_600, 1_795_449_909, 253_402_300_799] as [Int64]
    {
      for nanoseconds in [0, 999, 1_000_000, 999_999_999] as [Int32] {
        let text = Timestamp(seconds: seconds, nanoseconds: nanoseconds).rfc3339
        #expect(text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(text)")
      }
    }
  }
}
