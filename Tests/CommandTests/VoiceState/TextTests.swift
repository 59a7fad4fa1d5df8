import Screen
import Testing

@testable import voice_state

/// How facts, rows and columns are laid out.
@Suite struct TextTests {
  private func texts(_ facts: [String], _ width: Int, indent: Int = 0) -> [String] {
    flow(width: width, indent: indent) { for fact in facts { fact } }.map(\.text)
  }

  @Test func factsStandSideBySideAsFarAsTheyFit() {
    #expect(texts(["one", "two", "three"], 17) == ["one · two · three"])
    #expect(texts(["one", "two", "three"], 16) == ["one · two", "three"])
    #expect(texts(["one", "", "two"], 5, indent: 1) == [" one", " two"])
    #expect(texts(["漢字", "漢字"], 10) == ["漢字", "漢字"])
    #expect(texts([], 10).isEmpty)
  }

  @Test func onlyAFactLongerThanTheLineIsCut() {
    #expect(texts(["one", "seventeen"], 6) == ["one", "seven…"])
    #expect(texts(["one"], 0) == [""])
    #expect(texts(["one"], 2, indent: 9) == [" …"])
  }

  @Test func labelsAreDim() {
    let lines = flow(width: 20) {
      fact("model", "m4", .bold)
      fact("none", "")
      Line()
    }
    #expect(lines == [Line([.init("model ", .dim), .init("m4", .bold)])])
  }

  private func text(_ lines: [Line]) -> [String] { lines.map(\.text) }

  @Test func rules() {
    #expect(Rule.line(Line("tools"), width: 16).text == "── tools ───────")
    let calls = Line("3 calls")
    #expect(Rule.line(Line("tools"), note: calls, width: 24).text == "── tools ───── 3 calls ─")
    #expect(Rule.line(Line("tools"), note: Line("3 calls"), width: 18).text == "── tools ─────────")
    #expect(Rule.line(Line("tools"), note: Line("3 calls"), width: 14).text == "── tools ─────")
    for width in 0...30 {
      for title in ["", "a", "a long title", "漢字漢字漢字漢字"] {
        #expect(Rule.line(Line(title), note: Line("漢字 note"), width: width).cells == width)
      }
    }
  }

  @Test func blocksSideBySide() {
    let lines = Columns.join(
      [[Line("ab"), Line("abcdef")], [], [Line(), Line("x"), Line("漢字漢")]], widths: [4, 2, 5],
      gap: 1)
    #expect(text(lines) == ["ab", "abc…    x", "        漢字…"])
    #expect(Columns.widths(3, width: 200, gap: 3) == [65, 65, 64])
    #expect(Columns.widths(1, width: 40, gap: 3) == [40])
    #expect(Columns.widths(3, width: 4, gap: 3) == [0, 0, 0])
  }

  static let heights: [([Int], Int, [Int])] = [
    ([], 2, []), ([5], 3, [1]), ([1, 1, 1, 1], 2, [2, 2]), ([9, 1, 1, 1], 2, [1, 3]),
    ([1, 1, 1, 9], 2, [3, 1]), ([3, 3, 3, 3, 3], 3, [2, 2, 1]),
    ([2, 8, 2, 2, 2, 6], 3, [2, 3, 1]),
    ([1, 1, 1], 3, [1, 1, 1]), ([0, 0, 0], 2, [2, 1]),
  ]

  @Test(arguments: heights)
  func balance(_ heights: [Int], _ count: Int, _ columns: [Int]) {
    #expect(Columns.balance(heights, count: count) == columns)
  }

  @Test func grids() {
    let rows = [
      [Line("a"), Line("1"), Line("something long"), Line()], [Line("bbb"), Line("22"), Line("漢")],
    ]
    func lines(_ width: Int) -> [String] {
      text(Grid.lines([.left, .right, .giving, .left], width: width) { rows })
    }
    #expect(lines(40) == ["a     1  something long", "bbb  22  漢"])
    #expect(lines(18) == ["a     1  somethin…", "bbb  22  漢"])
    #expect(lines(10) == ["a     1  …", "bbb  22  …"])
  }

  @Test func drawingsInASCII() {
    #expect(Drawing.ascii("── a · ███▌ ✓ ✗ … 漢") == "-- a · #### + x ~ 漢")
    #expect(Drawing.ascii("plain") == "plain")
    let line = Rule.line(Line("tools"), note: Line("3"), width: 30)
    #expect(Drawing.ascii(line).text.utf8.count == 30)
  }
}
