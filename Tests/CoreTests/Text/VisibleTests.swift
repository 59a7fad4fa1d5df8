import Testing

@testable import Core

@Suite struct VisibleTests {
  @Test(arguments: [
    ("", ""), ("plain text", "plain text"), ("schöne Grüße 日本語", "schöne Grüße 日本語"),
    ("👩‍👩‍👧 é 🏳️‍🌈", "👩‍👩‍👧 é 🏳️‍🌈"), ("a\tb\nc\rd", "a\\tb\\nc\\rd"), ("\r\n", "\\r\\n"),
    ("\u{1b}[31mred\u{7}", "\\e[31mred\\x07"), ("\u{0}\u{7f}", "\\x00\\x7f"),
    ("\u{85}\u{9b}2J\u{9d}0;x\u{9c}", "\\x85\\x9b2J\\x9d0;x\\x9c"),
    ("safe\u{202e}txt", "safe\\u{202e}txt"),
    ("\u{2066}\u{2069}\u{61c}", "\\u{2066}\\u{2069}\\u{061c}"),
    ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"), ("\u{feff}x", "\\u{feff}x"),
    ("a\u{e0041}", "a\\u{e0041}"), ("\\n is no escape", "\\n is no escape"),
    ("e\u{301}\u{1b}", "e\u{301}\\e"),
  ])
  func oneLine(text: String, expected: String) {
    #expect(Visible.line(text) == expected)
  }

  /// Whatever comes in, what a terminal would obey does not come out.
  @Test func everyScalarOfTheDangerousClassesIsEscaped() {
    let dangerous: [ClosedRange<UInt32>] = [
      0...0x1f, 0x7f...0x9f, 0x061c...0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2060...0x206f,
      0xfeff...0xfeff, 0xfff9...0xfffb, 0xe0000...0xe007f,
    ]
    for value in 0...UInt32(0x10ffff) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let expected = dangerous.contains { $0.contains(value) }
      if Visible.mustEscape(scalar) != expected { Issue.record("U+\(String(value, radix: 16))") }
      if Visible.mustEscape(scalar) {
        let line = Visible.line("a" + String(Character(scalar)) + "b")
        #expect(line.utf8.allSatisfy { (0x20...0x7e).contains($0) } && line.hasPrefix("a\\"))
      }
    }
  }

  @Test func invalidUtf8ShowsAsReplacement() {
    #expect(
      Visible.line(String(decoding: [0x61, 0xff, 0x1b] as [UInt8], as: UTF8.self)) == "a\u{fffd}\\e"
    )
  }
}
