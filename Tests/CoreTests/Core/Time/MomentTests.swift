import Testing

@testable import Core

@Suite struct MomentTests {
  /// 2026: forward on March 29 at 01:00Z, back on October 25 at 01:00Z.
  static let berlin = LocalZone {
    (1_774_746_000..<1_792_890_000).contains($0) ? 7200 : 3600
  }
  /// 2026: forward on March 8 at 07:00Z, back on November 1 at 06:00Z.
  static let newYork = LocalZone {
    (1_772_953_200..<1_793_512_800).contains($0) ? -14_400 : -18_000
  }
  static let kathmandu = LocalZone { _ in 20_700 }
  /// A day that never was: 2011-12-30.
  static let apia = LocalZone { $0 < 1_325_239_200 ? -36_000 : 50_400 }
  /// Midnight that never was: 2026-04-24 in Cairo.
  static let cairo = LocalZone { $0 < 1_776_981_600 ? 7200 : 10_800 }

  /// A Sunday.
  static let now = "2026-11-22T10:30:00Z"

  private func read(
    _ text: String, _ zone: LocalZone, now: String = Self.now
  ) throws -> String? {
    let now = try #require(Timestamp(rfc3339: now))
    return Moment(text, now: now, zone: zone)?.timestamp(now: now).rfc3339
  }

  @Test(arguments: [
    ("now", "2026-11-22T10:30:00.000Z"), ("NOW", "2026-11-22T10:30:00.000Z"),
    ("2h", "2026-11-22T08:30:00.000Z"), ("90", "2026-11-22T10:28:30.000Z"),
    ("today", "2026-11-21T23:00:00.000Z"), ("Today 05:00", "2026-11-22T04:00:00.000Z"),
    ("yesterday", "2026-11-20T23:00:00.000Z"), ("yesterday 14:30", "2026-11-21T13:30:00.000Z"),
    ("sun", "2026-11-21T23:00:00.000Z"), ("SUNDAY", "2026-11-21T23:00:00.000Z"),
    ("mon", "2026-11-15T23:00:00.000Z"), ("tue 9:00", "2026-11-17T08:00:00.000Z"),
    ("tuesday", "2026-11-16T23:00:00.000Z"), ("thurs", "2026-11-18T23:00:00.000Z"),
    ("sat 23:59:59", "2026-11-21T22:59:59.000Z"), ("sun 23:00", "2026-11-22T22:00:00.000Z"),
    ("05:00", "2026-11-22T04:00:00.000Z"), ("5:00", "2026-11-22T04:00:00.000Z"),
    ("11:30", "2026-11-22T10:30:00.000Z"), ("11:30:01", "2026-11-21T10:30:01.000Z"),
    ("23:00", "2026-11-21T22:00:00.000Z"), ("2026-11-22", "2026-11-21T23:00:00.000Z"),
    ("2026-07-01", "2026-06-30T22:00:00.000Z"), ("2026-11-22 05:00", "2026-11-22T04:00:00.000Z"),
    ("2026-11-22T05:00", "2026-11-22T04:00:00.000Z"),
    ("2026-11-22t05:00:07", "2026-11-22T04:00:07.000Z"),
    ("2026-11-22  05:00:07", "2026-11-22T04:00:07.000Z"),
    ("1969-12-31 23:00", "1969-12-31T22:00:00.000Z"),
    ("2026-11-22T05:00:00Z", "2026-11-22T05:00:00.000Z"),
    ("2026-11-22 05:00:00.5-01:00", "2026-11-22T06:00:00.500Z"),
  ])
  func reads(text: String, time: String) throws {
    #expect(try read(text, Self.berlin) == time)
  }

  @Test(arguments: [
    "", " ", "soon", "su", "sundays", "today5:00", "today 25:00", "today 5", "now 5:00", "24:00",
    "5:0", "05:60", "05:00:60", ":00", "5:", "005:00", "-5:00", "2026-11-31", "2026-13-01 05:00",
    "2026-11-22 05", "2026-11-22T", "2026-11-22 05:00 x", "2026-11-22 05:00:00.5", "٠٥:٠٠",
    "today\n", "tue 9:00\u{1b}", "2026-11-22T05:00Z", "2h ago", "tomorrow",
  ])
  func refuses(text: String) throws { #expect(try read(text, Self.berlin) == nil) }

  @Test func daysAreThoseOfTheZone() throws {
    // In Kathmandu it is Sunday when it is still Saturday in New York.
    let now = "2026-11-22T04:00:00Z"
    #expect(try read("today", Self.kathmandu, now: now) == "2026-11-21T18:15:00.000Z")
    #expect(try read("today", Self.newYork, now: now) == "2026-11-21T05:00:00.000Z")
    #expect(try read("sun", Self.newYork, now: now) == "2026-11-15T05:00:00.000Z")
    #expect(try read("sat", Self.newYork, now: now) == "2026-11-21T05:00:00.000Z")
    // Before 1970, weeks go on.
    #expect(try read("wed", LocalZone { _ in 0 }, now: "1969-12-31T12:00:00Z")?.first == "1")
    #expect(
      try read("thu", LocalZone { _ in 0 }, now: "1969-12-31T12:00:00Z")
        == "1969-12-25T00:00:00.000Z")
  }

  @Test func aTimeThatComesTwiceIsTheFirst() throws {
    #expect(try read("2026-10-25 02:30", Self.berlin) == "2026-10-25T00:30:00.000Z")
    #expect(try read("2026-10-25 03:00", Self.berlin) == "2026-10-25T02:00:00.000Z")
    #expect(try read("2026-11-01 01:30", Self.newYork) == "2026-11-01T05:30:00.000Z")
  }

  @Test func aTimeThatIsPassedOverCountsFromBefore() throws {
    #expect(try read("2026-03-29 02:30", Self.berlin) == "2026-03-29T01:30:00.000Z")
    #expect(try read("2026-03-29 01:59:59", Self.berlin) == "2026-03-29T00:59:59.000Z")
    #expect(try read("2026-03-29 03:00", Self.berlin) == "2026-03-29T01:00:00.000Z")
    #expect(try read("2026-03-08 02:30", Self.newYork) == "2026-03-08T07:30:00.000Z")
    // A day without a midnight begins with its first instant.
    #expect(try read("2026-04-24", Self.cairo) == "2026-04-23T22:00:00.000Z")
    #expect(try read("2011-12-30 12:00", Self.apia) == "2011-12-30T22:00:00.000Z")
  }

  @Test func aZoneWithoutAnAnswerHasNoTimes() throws {
    #expect(try read("today", LocalZone { _ in nil }) == nil)
    #expect(try read("2h", LocalZone { _ in nil }) == "2026-11-22T08:30:00.000Z")
  }
}
