import Testing

@testable import Screen

@Suite struct LayoutTests {
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

  @Test func aLineIsCutInsideItsSpans() {
    let line = Line([.init("ab", .bold), .init("cdef", .dim)])
    #expect(line.cut(to: 6) == line)
    #expect(line.cut(to: 4) == Line([.init("ab", .bold), .init("c", .dim), .init("…", .dim)]))
    #expect(line.cut(to: 0) == Line())
  }
}
