import Testing

@testable import Screen

@Suite struct CellWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("e\u{301}\u{323}\u{310}", 1), ("ñandú", 5),
    ("漢字", 4), ("ｱｲ", 2), ("ＡＢ", 4), ("한글", 4), ("\u{1112}\u{1161}\u{11ab}", 2), ("、。", 4),
    ("🌊", 2), ("👨‍👩‍👧‍👦", 2), ("👩🏽‍🚀", 2), ("👍🏿", 2), ("🇩🇪🇯🇵", 4), ("🇩", 2), ("❤️", 2), ("❤", 1), ("1️⃣", 2),
    ("1", 1), ("⌚", 2), ("☎︎", 1), ("☎️", 2), ("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 2), ("a\u{200b}b", 2), ("a\u{2060}b", 2),
    ("…", 1), ("↵", 1),
    ("◆", 1), ("▁█", 2), ("ก็", 1), ("नि", 2), ("שָׁלוֹם", 4), ("\u{ad}", 1), ("\u{600}1", 2),
    ("\u{600}\u{600}1", 3), ("👍🏽🏽🏽", 6), ("a🏽", 3), ("🇩🇩🇩", 4), ("क्ष", 2), ("𝒳", 1),
    ("𠀀", 2), ("द्धा", 3), ("सिद्धार्थ", 7), ("กำ", 2), ("ｶﾞ", 2), ("கொ", 2),
    ("\u{1faf8}", 2), ("\u{3099}", 0), ("か\u{3099}", 2), ("\u{fe0f}", 0), ("\u{200d}", 0),
  ])
  func cells(_ text: String, _ cells: Int) {
    #expect(CellWidth.of(text) == cells)
  }

  @Test func theTableIsSortedAndApart() {
    var previous = false
    var edges = 0
    for value in UInt32(0x1000)...0x3_ffff {
      let isWide = WideRanges.contains(value)
      if isWide != previous { edges += 1 }
      previous = isWide
    }
    // Each range is found from its first to its last scalar, none overlaps.
    #expect(edges == 178)
  }
}

@Suite struct FitTests {
  @Test(arguments: [
    ("hello", 5, "hello"), ("hello", 4, "hel…"), ("hello", 1, "…"), ("hello", 0, ""),
    ("漢字漢字", 8, "漢字漢字"), ("漢字漢字", 7, "漢字漢…"), ("漢字漢字", 6, "漢字…"), ("漢字", 1, "…"),
    ("ab👨‍👩‍👧c", 5, "ab👨‍👩‍👧c"), ("ab👨‍👩‍👧cd", 5, "ab👨‍👩‍👧…"), ("ab👨‍👩‍👧cd", 4, "ab…"),
    ("🇩🇪🇯🇵🇫🇷", 5, "🇩🇪🇯🇵…"), ("🇩🇪🇯🇵🇫🇷", 4, "🇩🇪…"),
    ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("e\u{301}e\u{301}", 2, "e\u{301}e\u{301}"),
    ("", 3, ""), ("👍🏿👍🏿", 3, "👍🏿…"), ("ab\u{301}c", 2, "a…"), ("abc\u{301}d", 3, "ab…"),
  ])
  func truncation(_ text: String, _ cells: Int, _ result: String) {
    #expect(Fit.truncate(text, to: cells) == result)
    #expect(CellWidth.of(Fit.truncate(text, to: cells)) <= cells)
  }

  /// ASCII is taken byte by byte, and with anything beside it as the rest.
  @Test func asciiIsTakenAsAnythingElse() {
    let signs = ["a", "1", " ", "é", "─", "\u{301}", "\u{200d}", "\u{fe0f}", "👩", "漢", "क\u{94d}"]
    for one in signs {
      for two in signs {
        for three in signs {
          let text = one + two + three + "bc"
          for cells in 0...6 {
            var (end, used) = (text.startIndex, 0)
            for unit in CellScan(text[...]) {
              if used + unit.cells > cells { break }
              (end, used) = (unit.end, used + unit.cells)
            }
            let taken = Fit.receive(text[...], cells: cells)
            #expect(taken.part == text[..<end] && taken.cells == used, "\(text) in \(cells)")
          }
        }
      }
    }
  }

  @Test func whatBelongsTogetherIsNotCut() {
    for whole in [
      "क्ष", "क्\u{200d}ष", "நி", "กำ", "ｶﾞ", "🇳🇱", "👩🏽‍🚀", "1️⃣", "e\u{301}\u{323}",
      "\u{1112}\u{1161}\u{11ab}",
    ] {
      #expect(Array(CellScan(whole[...])).count == 1, "\(whole)")
    }
  }

  @Test func aClusterWithoutEndIsCutBetweenItsLetters() {
    let chain = "क" + String(repeating: "\u{94d}क", count: 500)
    #expect(chain.count == 1 && CellWidth.of(chain) == 501)
    #expect((9...10).contains(CellWidth.of(Fit.truncate(chain, to: 10))))
    let rows = Paragraph.wrap(chain + " a", to: 20)
    #expect(rows.count > 20 && rows.allSatisfy { CellWidth.of($0) <= 20 })
    #expect(rows.joined().filter { $0 != " " } == chain + "a")
  }

  @Test func padding() {
    #expect(Fit.padEnd("漢", to: 4) == "漢  ")
    #expect(Fit.padStart("漢", to: 4) == "  漢")
    #expect(Fit.padEnd("long", to: 2) == "long")
  }
}
