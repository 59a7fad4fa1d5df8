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
      0...0x1f, 0x7f...0x9f, 0x2028...0x2029, 0xfff9...0xfffb, 0xfffe...0xffff, 0x13430...0x1343f,
      0x10ee80...0x10eeff,
    ]
    let contextual: [ClosedRange<UInt32>] = [
      0x180b...0x180d, 0x180f...0x180f, 0x200c...0x200d, 0xfe00...0xfe0f, 0xe0100...0xe01ef,
    ]
    for value in 0...UInt32(0x10ffff) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isInvisible =
        scalar.properties.isDefaultIgnorableCodePoint
        && !contextual.contains { $0.contains(value) }
      let expected = isInvisible || dangerous.contains { $0.contains(value) }
      if Visible.mustEscape(scalar) != expected { Issue.record("U+\(String(value, radix: 16))") }
      if Visible.mustEscape(scalar) {
        let line = Visible.line("a" + String(Character(scalar)) + "b")
        #expect(line.utf8.allSatisfy { (0x20...0x7e).contains($0) } && line.hasPrefix("a\\"))
      }
    }
  }

  /// What shows as nothing is shown as that, unless it belongs to what stands around it.
  @Test(arguments: [
    ("pay\u{200b}pal", "pay\\u{200b}pal"), ("a\u{ad}b", "a\\u{00ad}b"), ("\u{3164}", "\\u{3164}"),
    ("a\u{200d}b", "a\\u{200d}b"), ("a\u{200c}b", "a\\u{200c}b"), ("👨\u{200d}", "👨\\u{200d}"),
    ("👨\u{200d}x", "👨\\u{200d}x"), ("نامه\u{200c}ای", "نامه\u{200c}ای"),
    ("نامه\u{200c}\u{200c}ای", "نامه\\u{200c}\\u{200c}ای"), ("क्\u{200d}ष", "क्\u{200d}ष"),
    ("❤\u{fe0f}", "❤\u{fe0f}"), ("❤\u{fe0f}\u{fe0f}", "❤\u{fe0f}\\u{fe0f}"),
    ("☎\u{fe0e}", "☎\u{fe0e}"),
    ("a\u{fe0f}", "a\\u{fe0f}"), ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
    ("1\u{fe0f}", "1\\u{fe0f}"),
    ("葛\u{e0100}", "葛\u{e0100}"), ("x\u{e0100}", "x\\u{e0100}"), ("👁️‍🗨️🏳️‍🌈❤️‍🔥🧑🏿‍🚀", "👁️‍🗨️🏳️‍🌈❤️‍🔥🧑🏿‍🚀"),
    ("\u{301}", "\\u{0301}"), ("\n\u{301}", "\\n\\u{0301}"), ("x \u{20dd}", "x \\u{20dd}"),
    ("שָׁלוֹם བརྒྱུད", "שָׁלוֹם བརྒྱུད"),
  ])
  func invisibles(text: String, expected: String) {
    #expect(Visible.line(text) == expected)
    #expect(Visible.escaped(in: text).isEmpty == (text == expected))
  }

  @Test func heapsOfMarksAreCut() {
    let heap = String(repeating: "\u{301}", count: 12)
    let shown = "a" + String(repeating: "\u{301}", count: 8)
    #expect(Visible.line("a" + heap) == shown + String(repeating: "\\u{0301}", count: 4))
    #expect(Visible.line("a\u{301}e\u{301}") == "a\u{301}e\u{301}")
  }

  @Test func invalidUtf8ShowsAsReplacement() {
    #expect(
      Visible.line(String(decoding: [0x61, 0xff, 0x1b] as [UInt8], as: UTF8.self)) == "a\u{fffd}\\e"
    )
  }
}
