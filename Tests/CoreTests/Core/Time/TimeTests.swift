import CLibc
import Testing

@testable import Core

@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0, 0), ("2026-03-01T12:00:00.000Z", 1_772_366_400, 0),
    ("2026-03-01T12:00:00.5Z", 1_772_366_400, 500_000_000),
    ("2026-03-01t12:00:00.123456789123z", 1_772_366_400, 123_456_789),
    ("2026-03-01 13:00:00+01:00", 1_772_366_400, 0),
    ("2026-03-01T06:30:00-05:30", 1_772_366_400, 0),
    ("2026-02-28T23:59:60Z", 1_772_323_200, 0), ("1969-12-31T23:59:59.25Z", -1, 250_000_000),
    ("0000-01-01T00:00:00Z", -62_167_219_200, 0), ("2024-02-29T00:00:00-00:00", 1_709_164_800, 0),
  ])
  func readsRFC3339(text: String, seconds: Int64, nanoseconds: Int32) {
    #expect(Timestamp(rfc3339: text) == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
  }

  @Test(arguments: [
    "", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01T12:00Z", "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-03-01T24:00:00Z",
    "2026-03-01T12:60:00Z", "2026-03-01T12:00:61Z", "2026-03-01T12:00:00.Z",
    "2026-03-01T12:00:00ZZ",
    "2026-03-01T12:00:00+0100", "2026-03-01T12:00:00+01", "2026-03-01T12:00:00+24:00",
    "2026-03-01X12:00:00Z", "x026-03-01T12:00:00Z", "2026-03-01T12:00:00.5",
    " 2026-03-01T12:00:00Z",
    "1900-02-29T00:00:00Z",
  ])
  func refusesTheRest(text: String) { #expect(Timestamp(rfc3339: text) == nil) }

  @Test func writesWhatItReads() {
    for text in [
      "2026-03-01T12:00:00.007Z", "1969-12-31T23:59:59.250Z", "0001-01-01T00:00:00.000Z",
    ] {
      #expect(Timestamp(rfc3339: text)?.rfc3339 == text)
    }
  }

  @Test func agreesWithTheCalendarOfLibc() {
    for step in 0..<4000 {
      let seconds = Int64(step) * 86_400 * 37 + Int64(step) * 11 - 2_208_988_800
      var broken = tm()
      var time = time_t(seconds)
      gmtime_r(&time, &broken)
      func pad(_ value: Int32) -> String { (value < 10 ? "0" : "") + "\(value)" }
      let date = "\(broken.tm_year + 1900)-\(pad(broken.tm_mon + 1))-\(pad(broken.tm_mday))"
      let clock = "\(pad(broken.tm_hour)):\(pad(broken.tm_min)):\(pad(broken.tm_sec))"
      #expect(Timestamp(seconds: seconds).rfc3339 == "\(date)T\(clock).000Z")
      #expect(Timestamp(rfc3339: "\(date)T\(clock)Z")?.seconds == seconds)
    }
  }

  @Test func comparesInstants() throws {
    let plain = try #require(Timestamp(rfc3339: "2026-03-01T12:00:00Z"))
    let later = try #require(Timestamp(rfc3339: "2026-03-01T12:00:00.500Z"))
    #expect(plain < later)
    #expect(plain.adding(.milliseconds(500)) == later)
    #expect(later.adding(.milliseconds(-500)) == plain)
    #expect(later.adding(.milliseconds(-501)).rfc3339 == "2026-03-01T11:59:59.999Z")
  }
}

@Suite struct DurationTextTests {
  @Test(arguments: [
    ("90s", 90.0), ("15m", 900), ("2h", 7200), ("3d", 259_200), ("1w", 604_800), ("5", 5),
    ("1.5h", 5400), ("0.25", 0.25), ("250ms", 0.25), ("1500ms", 1.5), ("0", 0), ("2.5ms", 0.0025),
  ])
  func reads(text: String, seconds: Double) {
    let parsed = DurationText.parse(text).map { $0 / Duration.seconds(1) }
    #expect(parsed == seconds)
  }

  @Test(arguments: [
    "", "s", "1x", "-1s", "+1", "1 s", ".5", "1.", "1.2.3", "1h30", "١s", "99999999999999w",
  ])
  func refuses(text: String) { #expect(DurationText.parse(text) == nil) }
}
