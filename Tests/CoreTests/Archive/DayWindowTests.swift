import Core
import Testing

@testable import Archive

@Suite struct DayWindowTests {
  private func time(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }
  private func day(_ name: String) throws -> DayFile {
    try #require(DayFile(name: name + ".ndjson"))
  }

  /// The day of an hour before the time is the first.
  @Test(arguments: [
    ("2026-03-04T00:59:59.999Z", "2026-03-03", true), ("2026-03-04T01:00:00Z", "2026-03-03", false),
    ("2026-03-04T01:00:00Z", "2026-03-04", true), ("2026-03-04T01:00:00Z", "2026-03-02", false),
  ])
  func since(_ since: String, _ name: String, _ isOpened: Bool) throws {
    let window = DayWindow(since: try time(since), before: nil)
    #expect(window.mayHold(try day(name)) == isOpened)
  }

  /// The day after the time is the last.
  @Test(arguments: [
    ("2026-03-04T00:00:00Z", "2026-03-05", true), ("2026-03-04T23:59:59Z", "2026-03-05", true),
    ("2026-03-03T23:59:59Z", "2026-03-05", false), ("2026-03-04T00:00:00Z", "2025-01-01", true),
  ])
  func before(_ before: String, _ name: String, _ isOpened: Bool) throws {
    let window = DayWindow(since: nil, before: try time(before))
    #expect(window.mayHold(try day(name)) == isOpened)
  }

  @Test func endsOfTheScale() throws {
    let all = DayWindow(
      since: Timestamp(seconds: .min), before: Timestamp(seconds: .max, nanoseconds: 999_999_999))
    #expect(all.mayHold(try day("0001-01-01")))
    #expect(all.mayHold(try day("9999-12-31")))
    let late = DayWindow(since: Timestamp(seconds: .max), before: nil)
    #expect(!late.mayHold(try day("9999-12-31")))
  }

  @Test func knownTimesAreExact() throws {
    let (oldest, newest) = (try time("2026-01-01T00:00:00Z"), try time("2026-01-02T00:00:00Z"))
    func mayHold(_ since: String?, _ before: String?) throws -> Bool {
      DayWindow(since: try since.map(time), before: try before.map(time))
        .mayHold(oldest: oldest, newest: newest)
    }
    #expect(try mayHold("2026-01-02T00:00:00Z", nil))
    #expect(try !mayHold("2026-01-02T00:00:00.000000001Z", nil))
    #expect(try !mayHold(nil, "2026-01-01T00:00:00Z"))
    #expect(try mayHold(nil, "2026-01-01T00:00:00.000000001Z"))
    #expect(!DayWindow(since: oldest, before: nil).mayHold(oldest: nil, newest: nil))
    #expect(DayWindow(since: nil, before: nil).mayHold(oldest: nil, newest: nil))
  }

  @Test func timesKeepTheirDecimals() throws {
    for text in ["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.100000001Z"] {
      #expect(try time(text).exact == text)
    }
  }
}
