import Core
import Testing

@testable import sse_tail

/// What is pure of `--archive`: the names of the days, and the end of a file as a crash
/// leaves it.
@Suite struct ArchiveTests {
  private func tail(_ text: String) -> (size: Int, lastEventID: String?, newest: String?) {
    Array(text.utf8).withUnsafeBytes { Archive.tail(of: $0) }
  }

  private let first = "{\"event\":\"e\",\"id\":\"1\",\"data\":1}\n"
  private let second = "{\"event\":\"e\",\"id\":\"2\",\"data\":{\"id\":\"9\"}}\n"

  @Test func theLastIDIsThatOfTheLastEvent() {
    #expect(tail(first + second) == (first.utf8.count + second.utf8.count, "2", nil))
    let other = "{\"type\":\"lost\",\"reason\":\"x\"}\n{\"event\":\"e\",\"id\":\"\",\"data\":1}\n"
    #expect(tail(first + second + other).lastEventID == "", "the stream took its id back")
    #expect(tail(first + "{\"type\":\"lost\",\"reason\":\"x\"}\n").lastEventID == "1")
    let missed = "{\"event\":\"actions_backfill\",\"id\":\"\",\"data\":{}}\n"
    #expect(tail(first + missed).lastEventID == "1", "what was asked for comes from elsewhere")
    #expect(tail(missed).lastEventID == nil)
  }

  @Test(arguments: [
    "{", "{\"event\":\"e\",\"id\":\"3\",\"data\":1}", "{\"event\":\"e\",\"id\":\"3", "\0\0\0\0",
    "\0\0\n", "{\"event\":\"e\"\0\0\0\n\0\0", "\0\n{\"event\":\"e\",\"id\":\"3\"}\0\n",
  ])
  func halfARecordIsCutOff(rest: String) {
    let whole = first + second
    #expect(tail(whole + rest) == (whole.utf8.count, "2", nil))
    #expect(tail(rest) == (0, nil, nil))
  }

  @Test func whatIsWholeStays() {
    for text in ["", "\n", first, "no record\n", first + "\n"] {
      #expect(tail(text).size == text.utf8.count)
    }
    #expect(tail("no record\n" + first + "x").size == 10 + first.utf8.count)
  }

  @Test func everyCutOfAFileIsMended() {
    let text = first + second + first
    for count in 0...text.utf8.count {
      let found = tail(String(text.prefix(count)))
      let lines = text.prefix(count).filter { $0 == "\n" }.count
      #expect(found.size == ["", first, first + second, text][lines].utf8.count)
      #expect(found.lastEventID == [nil, "1", "2", "1"][lines])
    }
  }

  @Test func aDayIsThatOfUTC() throws {
    let midnight = try #require(Timestamp(rfc3339: "2026-11-21T23:59:59.999Z"))
    #expect(DayFile(midnight).name == "2026-11-21.ndjson")
    #expect(DayFile(midnight.adding(.milliseconds(1))).name == "2026-11-22.ndjson")
    #expect(DayFile(midnight) < DayFile(midnight.adding(.milliseconds(1))))
  }

  @Test(arguments: [
    "2026-11-21", "2026-11-21.ndjson.zst", "2026-13-21.ndjson", ".2026-11-21.ndjson", "x.ndjson",
    "2026-11-21xndjson", "é026-11-2.ndjson", "", ".ndjson", "2026-11-21.ndjson~",
  ])
  func otherNamesAreNoDays(name: String) {
    #expect(DayFile(name: name) == nil)
  }

  @Test func compressedDaysAreKnown() {
    #expect(DayFile(compressedName: "2026-11-21.ndjson.zst")?.name == "2026-11-21.ndjson")
    #expect(DayFile(compressedName: "2026-11-21.ndjson.gz")?.name == "2026-11-21.ndjson")
    #expect(DayFile(compressedName: "2026-11-21.ndjson") == nil)
    #expect(DayFile(compressedName: "x.zst") == nil)
  }
}
