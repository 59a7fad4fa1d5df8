import Core
import Testing

@testable import Screen

@Suite struct PlainTests {
  @Test(arguments: [
    ("a\nb", "a ↵ b"), ("a\r\nb", "a ↵ b"), ("  a \t b  ", "a b"), ("a \n\n b\n", "a ↵ b"),
    ("a\u{1b}[31mb", "a\\e[31mb"), ("a\u{9b}b", "a\\x9bb"), ("a\u{7f}\u{0}b", "a\\x7f\\x00b"),
    ("a\u{202e}b", "a\\u{202e}b"), ("a\u{2028}b", "a ↵ b"), ("\u{301}a", "\\u{0301}a"),
    ("b \u{301}a", "b \\u{0301}a"),
    ("a\u{301}", "a\u{301}"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("", ""), ("\n", ""), ("\u{fe0f}x", "\\u{fe0f}x"),
  ])
  func line(_ text: String, _ result: String) {
    #expect(Plain.line(text) == result)
  }

  @Test func lineStopsAtItsLimit() {
    #expect(Plain.line(String(repeating: "x", count: 1_000_000), limit: 10).count <= 11)
  }

  @Test func marksWithoutEndAreEscaped() {
    let text = Plain.line("e" + String(repeating: "\u{301}", count: 5000))
    #expect(text.unicodeScalars.count { $0 == "\u{301}" } == 8)
    #expect(text.hasSuffix("\\u{0301}"))
    let family = "👨‍👩‍👧‍👦 ก็ שָׁלוֹם e\u{301}\u{323}"
    #expect(Plain.line(family) == family)
  }

  @Test func aCrowdIsNoPicture() {
    let crowd = Array(repeating: "👨", count: 30).joined(separator: "\u{200d}")
    #expect(CellWidth.of(crowd) == 2)
    let shown = Plain.line(crowd)
    for picture in shown.split(separator: "\\u{200d}") {
      #expect(picture.unicodeScalars.count { $0 == "\u{200d}" } <= VisibleScalars.mostJoiners)
    }
    #expect(CellWidth.of(shown) > 50)
    let shaded = Array(repeating: "👨🏽", count: 30).joined(separator: "\u{200d}")
    #expect(CellWidth.of(Plain.line(shaded)) > 50)
    // A joined picture may be followed by the next one, and letters may be joined.
    let kiss = String(repeating: "👩🏽‍❤️‍💋‍👨🏿", count: 9)
    #expect(Plain.line(kiss) == kiss)
    let joined = String(repeating: "क्\u{200d}ष ", count: 9) + "نامه\u{200c}ای"
    #expect(Plain.line(joined) == joined)
  }

  @Test func nothingATerminalObeysIsLeft() {
    for value in (0...0xa0).map({ UInt32($0) }) + [0x61c, 0x200e, 0x202a, 0x202e, 0x2066, 0x2069] {
      guard let scalar = Unicode.Scalar(value) else { continue }
      for text in [Plain.line("a\(scalar)b")] + Plain.lines("a\(scalar)b") {
        for out in text.unicodeScalars {
          #expect(out.value >= 0x20 && !(0x7f...0x9f).contains(out.value))
          #expect(!(0x202a...0x202e).contains(out.value) && !(0x2066...0x2069).contains(out.value))
        }
      }
    }
  }

  @Test func lines() {
    #expect(Plain.lines("a\n\tb\r\nc\rd\n\n") == ["a", "  b", "c", "d"])
    #expect(Plain.lines("") == [""])
    #expect(Plain.lines("x\u{1b}]0;t\u{7}") == ["x\\e]0;t\\x07"])
  }

  @Test func paragraphs() {
    #expect(Paragraph.wrap("the tide turns at noon", to: 8) == ["the tide", "turns at", "noon"])
    #expect(Paragraph.wrap("abcdefghij kl", to: 4) == ["abcd", "efgh", "ij", "kl"])
    #expect(Paragraph.wrap("漢字漢字", to: 5) == ["漢字", "漢字"])
    #expect(Paragraph.wrap("  indented text here", to: 12) == ["  indented", "text here"])
    #expect(Paragraph.wrap("a\n\nb", to: 10) == ["a", "", "b"])
    #expect(Paragraph.wrap("one two", to: nil) == ["one two"])
    #expect(Paragraph.wrap("👨‍👩‍👧👨‍👩‍👧", to: 3) == ["👨‍👩‍👧", "👨‍👩‍👧"])
    #expect(Paragraph.wrap("漢", to: 0) == ["漢"])
  }
}
