import CLibc
import Core
import Testing

@testable import Screen

@Suite struct AmountTests {
  static let moneyTable: [(Double, String)] = [
    (0.0, "$0"), (4e-7, "<$0.0001"), (0.00005, "$0.0001"), (0.009415, "$0.0094"), (0.25, "$0.2500"),
    (0.99996, "$1.00"), (2.4719, "$2.47"), (999.996, "$1000"), (12345.6, "$12346"),
    (-0.5, "-$0.5000"),
    (1e300, "$1e+300"),
  ]

  @Test(arguments: moneyTable)
  func money(_ dollars: Double, _ text: String) {
    #expect(Amount.money(dollars) == text)
  }

  static let exactMoneyTable: [(Double, String)] = [
    (4e-7, "$0.0000004"), (0.009415, "$0.009415"), (2.5, "$2.50"), (0, "$0.00"), (-0.25, "-$0.25"),
    (1e300, "$1e+300"),
  ]

  @Test(arguments: exactMoneyTable)
  func exactMoney(_ dollars: Double, _ text: String) {
    #expect(Amount.exactMoney(dollars) == text)
  }

  static let countsTable: [(Double, String)] = [
    (0.0, "0"), (84, "84"), (999, "999"), (999.6, "1.0k"), (1532, "1.5k"), (9949, "9.9k"),
    (9950, "10k"), (123_456, "123k"), (999_500, "1.0M"), (1_200_000, "1.2M"), (45_000_000, "45M"),
    (1e30, "1e+24M"), (-5, "-5"),
  ]

  @Test(arguments: countsTable)
  func counts(_ value: Double, _ text: String) {
    #expect(Amount.count(value) == text)
  }

  static let durationsTable: [(Double, String)] = [
    (0.0, "0ms"), (44, "44ms"), (999.4, "999ms"), (999.6, "1.0s"), (1285, "1.3s"), (9949, "9.9s"),
    (30_010, "30s"), (59_600, "1m"), (298_000, "4m58s"), (2_700_000, "45m"), (3_720_000, "1h02m"),
    (7_200_000, "2h"), (183_600_000, "2d03h"), (-1500, "-1.5s"), (1e300, "1e+300ms"),
  ]

  @Test(arguments: durationsTable)
  func durations(_ milliseconds: Double, _ text: String) {
    #expect(Amount.duration(milliseconds) == text)
  }

  static let clockTable: [(Int64, String)] = [
    (0, "0:00"), (28, "0:28"), (2672, "44:32"), (3872, "1:04:32"), (183_600, "2d03h"), (-5, "0:00"),
    (Int64.min, "0:00"),
  ]

  @Test(arguments: clockTable)
  func clocks(_ seconds: Int64, _ text: String) {
    #expect(Amount.clock(seconds) == text)
  }

  static let bytesTable: [(Double, String)] = [
    (0.0, "0 B"), (1023, "1023 B"), (4096, "4.0 KB"), (184_320, "180.0 KB"),
    (1_258_291, "1.20 MB"),
  ]

  @Test(arguments: bytesTable)
  func sizes(_ count: Double, _ text: String) {
    #expect(Amount.bytes(count) == text)
  }
}

@Suite struct TimeTextTests {
  private func age(_ seconds: Int64) -> String {
    TimeText.relative(
      Timestamp(seconds: 1_000_000_000 - seconds), now: Timestamp(seconds: 1_000_000_000))
  }

  static let relativeTable: [(Int64, String)] = [
    (0, "now"), (4, "now"), (5, "5s ago"), (59, "59s ago"), (60, "1m ago"),
    (3599, "59m ago"),
    (3600, "1h ago"), (86_399, "23h ago"), (86_400, "1d ago"), (99 * 86_400, "99d ago"),
    (100 * 86_400, "14w ago"), (364 * 86_400, "52w ago"), (365 * 86_400, "1y ago"),
    (-3, "now"), (-300, "in 5m"),
  ]

  @Test(arguments: relativeTable)
  func relative(_ seconds: Int64, _ text: String) {
    #expect(age(seconds) == text)
  }

  @Test func farAwayTimesAreNoCrash() {
    for seconds in [Int64.min, Int64.max, -62_135_596_800, 253_402_300_799] {
      _ = TimeText.relative(Timestamp(seconds: seconds), now: Timestamp(seconds: 0))
      _ = TimeText.absolute(Timestamp(seconds: seconds))
    }
  }

  @Test func absoluteIsTheZonesTime() {
    let offset: @Sendable (Int64) -> tm? = { seconds in
      var clock = time_t(seconds + 7200)
      var parts = tm()
      return gmtime_r(&clock, &parts) == nil ? nil : parts
    }
    let time = Timestamp(rfc3339: "2026-05-09T22:30:13.900Z") ?? Timestamp(seconds: 0)
    #expect(TimeText.absolute(time, zone: offset) == "2026-05-10 00:30:13")
    #expect(TimeText.absolute(time, zone: { _ in nil }) == "?")
  }
}
