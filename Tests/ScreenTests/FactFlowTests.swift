import Testing

@testable import Screen

@Suite struct FactFlowTests {
  private func texts(_ facts: [String], _ width: Int, indent: Int = 0) -> [String] {
    var flow = FactFlow()
    for fact in facts { flow.add(fact) }
    return flow.lines(width: width, indent: indent).map(\.text)
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
    var flow = FactFlow()
    flow.add("model", "m4", .bold)
    flow.add("none", "")
    flow.add(Line())
    #expect(flow.lines(width: 20) == [Line([.init("model ", .dim), .init("m4", .bold)])])
  }

  @Test func aLineIsCutInsideItsSpans() {
    let line = Line([.init("ab", .bold), .init("cdef", .dim)])
    #expect(line.cut(to: 6) == line)
    #expect(line.cut(to: 4) == Line([.init("ab", .bold), .init("c", .dim), .init("…", .dim)]))
    #expect(line.cut(to: 0) == Line())
  }
}
