import Testing

@testable import Screen

@Suite struct LayoutTests {
  private func text(_ lines: [Line]) -> [String] { lines.map(\.text) }

  static let bars: [(Double?, String)] = [
    (nil, ""), (0, ""), (-1, ""), (.nan, ""), (0.001, "▏"), (1, "█"), (2.5, "██▌"), (4, "████"),
    (9, "████"), (.infinity, "████"),
  ]

  @Test(arguments: bars)
  func bar(_ value: Double?, _ text: String) {
    #expect(Bar.text(value, of: 4, cells: 4) == text)
  }

  @Test func barsWithoutRoomOrScale() {
    #expect(Bar.text(1, of: 0, cells: 4) == "" && Bar.text(1, of: 4, cells: 0) == "")
    #expect(Bar.gauge(1, of: 4, cells: 4).text == "━───")
    #expect(Bar.gauge(0.01, of: 4, cells: 4).text == "━───")
    #expect(Bar.gauge(nil, of: 4, cells: 3).text == "───")
    #expect(Bar.gauge(9, of: 4, cells: 3).text == "━━━")
    #expect(Bar.gauge(9, of: 4, cells: -1).text == "")
  }

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
    var grid = Grid([.left, .right, .giving, .left])
    grid.add([Line("a"), Line("1"), Line("something long"), Line()])
    grid.add([Line("bbb"), Line("22"), Line("漢")])
    #expect(text(grid.lines(width: 40)) == ["a     1  something long", "bbb  22  漢"])
    #expect(text(grid.lines(width: 18)) == ["a     1  somethin…", "bbb  22  漢"])
    #expect(text(grid.lines(width: 10)) == ["a     1  …", "bbb  22  …"])
  }

  @Test func drawingsInASCII() {
    #expect(Drawing.ascii("── a · ███▌ ✓ ✗ … 漢") == "-- a | #### + x ~ 漢")
    #expect(Drawing.ascii("plain") == "plain")
    let line = Rule.line(Line("tools"), note: Line("3"), width: 30)
    #expect(Drawing.ascii(line).text.utf8.count == 30)
  }

  @Test func paragraphsInPart() {
    #expect(Paragraph.wrap("one two three", to: 7, rows: 3) == ["one two", "three"])
    #expect(Paragraph.wrap("one two three", to: 7, rows: 1) == ["one tw…"])
    let long = String(repeating: "word ", count: 100_000)
    #expect(Paragraph.wrap(long, to: 9, rows: 2) == ["word word", "word wor…"])
    #expect(Paragraph.wrap(String(repeating: "e\u{301}", count: 50_000), to: 4, rows: 1).count == 1)
  }

  @Test func simpleTextsAreMeasuredAsOthersAre() {
    for value in UInt32(0x20)...0x2fff {
      guard let scalar = Unicode.Scalar(value),
        let cells = CellWidth.simple(Substring(String(scalar)))
      else { continue }
      #expect(
        cells == CellScan(Substring(String(scalar))).reduce(0) { $0 + $1.cells },
        "U+\(String(value, radix: 16))")
    }
  }
}
