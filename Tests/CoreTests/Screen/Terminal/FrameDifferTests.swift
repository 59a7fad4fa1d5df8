import Testing

@testable import Screen

@Suite struct FrameDifferTests {
  private func rows(_ texts: String...) -> [FrameDiffer.Row] {
    texts.map { FrameDiffer.Row($0, isFull: $0.count >= 8) }
  }

  @Test func firstFrameIsWhole() {
    var differ = FrameDiffer()
    #expect(
      differ.update(to: rows("a", "b"))
        == "\u{1b}[?2026h\u{1b}[1;1Ha\u{1b}[K\u{1b}[2;1Hb\u{1b}[K\u{1b}[?2026l")
  }

  @Test func onlyChangesAreWritten() {
    var differ = FrameDiffer()
    _ = differ.update(to: rows("a", "b", "c"))
    #expect(differ.update(to: rows("a", "b", "c")) == "")
    #expect(
      differ.update(to: rows("a", "x", "c")) == "\u{1b}[?2026h\u{1b}[2;1Hx\u{1b}[K\u{1b}[?2026l")
  }

  @Test func afterAChangeOfSizeAllIsWritten() {
    var differ = FrameDiffer()
    _ = differ.update(to: rows("a", "b"))
    #expect(differ.update(to: rows("a", "b", "")).contains("\u{1b}[3;1H\u{1b}[K"))
    differ.forget()
    #expect(differ.update(to: rows("a", "b", "")).contains("\u{1b}[1;1Ha"))
  }

  /// Behind a full row an erase would take the last cell.
  @Test func fullRowsAreErasedBefore() {
    var differ = FrameDiffer()
    #expect(
      differ.update(to: rows("12345678")).contains("\u{1b}[1;1H\u{1b}[K12345678\u{1b}[?2026l"))
    #expect(FrameDiffer.Row(Line([.init("漢字")]), width: 4, depth: .none).isFull)
    #expect(!FrameDiffer.Row(Line([.init("漢字")]), width: 5, depth: .none).isFull)
    let cut = FrameDiffer.Row(Line([.init("漢字")]), width: 3, depth: .none)
    #expect(cut.text == "漢…")
    #expect(cut.isFull)
  }

  /// What stands behind a cluster that terminals count differently is put in
  /// its column.
  @Test func contestedClustersKeepTheirColumns() {
    let row = FrameDiffer.Row(Line([.init("a👩🏽‍🚀b🇳🇱", .plain)]), width: 20, depth: .none)
    #expect(row.text == "a👩🏽‍🚀\u{1b}[4Gb🇳🇱\u{1b}[7G")
    #expect(row.isContested)
    for character in "👨‍👩‍👧❤️स्थासि" as String where character.unicodeScalars.count > 1 {
      #expect(PlacedText.isContested(Substring([character])), "\(character)")
    }
    for character in "aé漢🌊한^e\u{301}x" as String {
      #expect(!PlacedText.isContested(Substring([character])))
    }
    // Of which some terminals make one picture, and some two.
    let shades = FrameDiffer.Row(Line([.init("👍🏽🏽b")]), width: 20, depth: .none)
    #expect(shades.text == "👍🏽\u{1b}[3G🏽\u{1b}[5Gb")
    let plain = FrameDiffer.Row(Line([.init("漢字 é")]), width: 20, depth: .none)
    #expect(plain.text == "漢字 é")
  }

  /// A screen of our own, driven by the bytes, shows each frame of a long run.
  @Test func everyFrameIsOnTheScreen() {
    var generator = SystemRandomNumberGenerator()
    var differ = FrameDiffer()
    var screen = [String](repeating: "left over", count: 12)
    for _ in 0..<300 {
      let height = Int.random(in: 1...12, using: &generator)
      let frame = (0..<height).map { _ in
        FrameDiffer.Row(String(repeating: "x", count: Int.random(in: 0...8)), isFull: false)
      }
      for step in differ.update(to: frame).split(separator: "\u{1b}[") where step.contains("H") {
        let parts = step.split(separator: "H", omittingEmptySubsequences: false)
        let row = parts[0].split(separator: ";").first.flatMap { Int($0) } ?? 0
        screen[row - 1] = String(parts[1])
      }
      #expect(Array(screen[..<height]) == frame.map(\.text))
    }
  }
}
