import Testing

@testable import Screen

@Suite struct StyleTests {
  private func depth(
    _ when: ColourDepth.When, terminal: Bool = true, _ environment: [String: String]
  ) -> ColourDepth {
    ColourDepth.detect(when, isTerminal: terminal) { environment[$0] }
  }

  @Test func depthFollowsTheEnvironment() {
    #expect(depth(.auto, ["TERM": "xterm"]) == .basic)
    #expect(depth(.auto, ["TERM": "xterm-256color"]) == .indexed)
    #expect(depth(.auto, ["TERM": "xterm", "COLORTERM": "truecolor"]) == .truecolor)
    #expect(depth(.auto, ["TERM": "xterm-direct"]) == .truecolor)
    #expect(depth(.auto, ["TERM": "dumb", "COLORTERM": "truecolor"]) == .none)
    #expect(depth(.auto, [:]) == .none)
    #expect(depth(.auto, ["TERM": "xterm", "NO_COLOR": "1"]) == .none)
    #expect(depth(.auto, terminal: false, ["TERM": "xterm"]) == .none)
    #expect(depth(.always, terminal: false, ["TERM": "dumb", "NO_COLOR": "1"]) == .basic)
    #expect(depth(.always, terminal: false, [:]) == .basic)
    #expect(depth(.never, ["TERM": "xterm", "COLORTERM": "24bit"]) == .none)
  }

  @Test func stylesAreOneSequenceAndAReset() {
    let style = Style(Colour(0xdc2626, basic: 31), bold: true)
    #expect(style.apply(to: "x", depth: .none) == "x")
    #expect(style.apply(to: "x", depth: .basic) == "\u{1b}[1;31mx\u{1b}[0m")
    #expect(style.apply(to: "x", depth: .indexed) == "\u{1b}[1;38;5;160mx\u{1b}[0m")
    #expect(style.apply(to: "x", depth: .truecolor) == "\u{1b}[1;38;2;220;38;38mx\u{1b}[0m")
    #expect(Style.plain.apply(to: "x", depth: .truecolor) == "x")
    #expect(style.apply(to: "", depth: .truecolor) == "")
  }

  @Test(arguments: [
    (0x000000 as UInt32, 16 as UInt8), (0xffffff, 231), (0xff0000, 196), (0x808080, 244),
    (0x5f87af, 67), (0x9ca3af, 248),
  ])
  func nearestOfTheIndexed(_ hex: UInt32, _ index: UInt8) {
    #expect(Colour(hex, basic: 37).indexed == index)
  }

  @Test func nearestOfTheLevels() {
    let levels = [0, 95, 135, 175, 215, 255]
    for value in 0...255 {
      let nearest = levels.indices.min { abs(levels[$0] - value) < abs(levels[$1] - value) } ?? 0
      // A red so strong that no grey is nearer.
      let colour = Colour(UInt32(value) | 0xff0000, basic: 31)
      #expect(colour.indexed == UInt8(16 + 36 * 5 + nearest), "\(value)")
    }
  }

  @Test func linesAreCutAcrossTheirPieces() {
    var line = Line()
    line.add("ab", .bold)
    line.add("漢字", .dim)
    line.add("c")
    #expect(line.cells == 7)
    #expect(line.render(width: nil, depth: .none) == "ab漢字c")
    #expect(line.render(width: 7, depth: .none) == "ab漢字c")
    #expect(line.render(width: 6, depth: .none) == "ab漢…")
    #expect(line.render(width: 3, depth: .none) == "ab…")
    #expect(line.render(width: 0, depth: .none) == "")
    #expect(line.render(width: 2, depth: .basic) == "\u{1b}[1ma…\u{1b}[0m")
    line.add("d")
    #expect(
      line.render(width: nil, depth: .basic) == "\u{1b}[1mab\u{1b}[0m\u{1b}[2m漢字\u{1b}[0mcd")
  }

  @Test func bars() {
    #expect(Spark.line([0, 1, 2, 4]) == "▁▃▅█")
    #expect(Spark.line([0, 0]) == "▁▁")
    #expect(Spark.line([.nan, .infinity, 1, -1]) == "▁▁█▁")
    #expect(Spark.line([]) == "")
  }
}
