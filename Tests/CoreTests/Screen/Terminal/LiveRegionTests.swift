import Core
import Testing

@testable import Screen

@Suite struct LiveRegionTests {
  private let size = WindowSize(columns: 10, rows: 5)

  private func update(
    _ region: inout LiveRegion, settled: [String] = [], _ live: String..., columns: Int = 10
  ) -> String {
    region.update(
      settled: settled.map { Line($0) }, live: live.map { Line($0) },
      size: WindowSize(columns: columns, rows: 5), depth: .none)
  }

  @Test func drawsBelowWhatStays() {
    var region = LiveRegion()
    #expect(
      update(&region, settled: ["done"], "a", "b")
        == "\u{1b}[?2026h\r\u{1b}[Kdone\na\u{1b}[K\nb\u{1b}[K\u{1b}[J\u{1b}[?2026l")
    #expect(!region.isEmpty)
  }

  @Test func drawsAnewInPlace() {
    var region = LiveRegion()
    _ = update(&region, "a", "b", "c")
    #expect(
      update(&region, "a", "x")
        == "\u{1b}[?2026h\r\u{1b}[2Aa\u{1b}[K\nx\u{1b}[K\u{1b}[J\u{1b}[?2026l")
    #expect(update(&region, "a", "x") == "")
    #expect(update(&region) == "\u{1b}[?2026h\r\u{1b}[1A\u{1b}[J\u{1b}[?2026l")
    #expect(region.isEmpty)
    #expect(update(&region) == "")
  }

  @Test func keepsTheLastColumnAndARowFree() {
    var region = LiveRegion()
    #expect(update(&region, "0123456789").contains("\r01234567…\u{1b}[K"))
    let rows = region.update(
      live: (0..<9).map { Line("\($0)") }, size: size, depth: .none)
    #expect(rows.contains("3\u{1b}[K\u{1b}[J") && !rows.contains("4"))
  }

  /// Terminals break rows that do not fit any more: so far up do they begin.
  @Test func findsItsBeginningInANarrowerWindow() {
    var region = LiveRegion()
    _ = update(&region, "12345678", "123", columns: 10)
    #expect(update(&region, "12345678", "123", columns: 5).contains("\r\u{1b}[2A123…"))
    _ = update(&region, "1", columns: 5)
    #expect(update(&region, "1", columns: 9).contains("\r1\u{1b}[K"))
  }

  @Test func isLeft() {
    var region = LiveRegion()
    _ = update(&region, "a", "b")
    region.forget()
    #expect(update(&region, "a", "b").contains("\ra\u{1b}[K\nb"))
  }
}
