import Core
import Screen
import Testing

@testable import voice_state

/// The search on the live screen.
@Suite struct FinderTests {
  private let lines = [
    Line("one Pin"), Line([.init("tw", .bold), .init("o pi"), .init("npin", .dim)]), Line("three"),
    Line("漢字 pin"), Line(),
  ]

  private func typed(_ text: String) -> Finder {
    var finder = Finder()
    for character in text { _ = finder.handle(.character(character)) }
    return finder
  }

  @Test func whatIsFoundIsReversed() {
    var finder = typed("pIn")
    let marked = finder.mark(lines)
    #expect(finder.matches == [0, 1, 3])
    #expect(marked.map(\.text) == lines.map(\.text))
    #expect(marked.map(\.cells) == lines.map(\.cells))
    func reversed(_ line: Line) -> [String] { line.spans.filter(\.style.isReversed).map(\.text) }
    #expect(marked.map(reversed) == [["Pin"], ["pi", "npin"], [], ["pin"], []])
    #expect(marked[1].spans.map(\.style.isBold) == [true, false, false, false])
    var none = Finder()
    #expect(none.mark(lines) == lines)
  }

  @Test func fromLineToLine() {
    var finder = typed("pin")
    #expect(finder.handle(.enter) == .next)
    #expect(finder.find(.next, in: lines, from: 1) == 1)
    #expect(finder.status == "/pin  2 of 3 lines")
    #expect(finder.find(.next, in: lines, from: 0) == 3)
    #expect(finder.find(.next, in: lines, from: 0) == 0)
    #expect(finder.find(.previous, in: lines, from: 0) == 3)
    // The lines change while they are looked at.
    #expect(finder.find(.previous, in: Array(lines.prefix(2)), from: 0) == 1)
    #expect(finder.find(.next, in: [Line("no")], from: 0) == nil)
    #expect(finder.status == "/pin  not found")
    var fresh = typed("pin")
    #expect(fresh.find(.previous, in: lines, from: 3) == 1)
    var one = typed("three")
    _ = one.handle(.enter)
    _ = one.find(.next, in: lines, from: 0)
    #expect(one.status == "/three  1 of 1 line")
  }

  @Test func keys() {
    var finder = typed("abc")
    #expect(finder.handle(.backspace) == .stay)
    #expect(finder.status == "/ab_")
    #expect(finder.handle(.up) == .stay)
    #expect(finder.handle(.control("u")) == .stay)
    #expect(finder.handle(.backspace) == .close)
    #expect(finder.handle(.enter) == .close)
    #expect(finder.handle(.escape) == .close)
    finder = typed("n")
    _ = finder.handle(.enter)
    #expect(finder.handle(.character("n")) == .next)
    #expect(finder.handle(.character("N")) == .previous)
    #expect(finder.handle(.character("q")) == .other)
    #expect(finder.handle(.up) == .other)
    #expect(finder.handle(.character("/")) == .stay)
    #expect(finder == Finder())
    finder = typed("n")
    _ = finder.handle(.enter)
    #expect(finder.handle(.escape) == .close)
  }

  @Test func hostileTexts() {
    var finder = typed("\u{202e}\u{9b}" + String(repeating: "x", count: 5000))
    #expect(finder.text.count == 100)
    #expect(FrameCheck.fault(in: finder.status, width: 200) == nil)
    finder = typed("e\u{301}")
    #expect(finder.mark([Line("cafe"), Line("CAFÉ")]).count == 2)
    #expect(finder.matches == [1])
  }

  @Test func everyKeyIsListed() {
    let replay = LiveView.keyHelp(isReplay: true)
    #expect(LiveView.keyHelp(isReplay: false).count == replay.count - 3)
    #expect(replay.count < 24)
    #expect(replay.allSatisfy { $0.cells <= 60 })
  }

  @Test func timesByTheClock() throws {
    let now = try #require(Timestamp(rfc3339: "2026-05-09T12:00:00Z"))
    let earlier = now.adding(.seconds(-64))
    #expect(Now(now).words(for: earlier) == "1m ago")
    let clock = Now(now, tellsClock: true)
    let whole = TimeText.absolute(earlier)
    #expect(clock.words(for: earlier) == whole.dropFirst(11))
    let other = now.adding(.seconds(-9 * 86_400))
    #expect(
      clock.words(for: other)
        == TimeText.absolute(other).dropFirst(5).dropLast(3))
    #expect(CellWidth.of(clock.words(for: earlier)) == clock.cells)
    #expect(clock.words(for: Timestamp(seconds: .max)) == "?")
  }
}
