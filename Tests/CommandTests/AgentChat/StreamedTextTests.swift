import Testing

@testable import agent_chat

/// What a terminal is shown of a text that grows.
@Suite struct StreamedTextTests {
  /// All that is shown of texts that come one after the other; replaced ones begin with `|`.
  private func shown(_ texts: [String], isWhole: Bool = true) -> String {
    var streamed = StreamedText()
    var out = ""
    for (index, text) in texts.enumerated() {
      switch streamed.receive(text, isWhole: isWhole && index == texts.count - 1) {
      case .more(let piece): out += piece
      case .replaced(let piece): out += "|" + piece
      }
    }
    return out
  }

  @Test func onlyWhatIsNewIsShown() {
    #expect(shown(["a", "ab", "ab", "abc"]) == "abc")
    #expect(shown(["Draft one", "", "Best"]) == "Draft one|Best")
    #expect(shown(["Draft one", "Draft"]) == "Draft one|Draft")
    #expect(shown(["abc", "abd"]) == "abc|abd")
    #expect(shown([]) == "")
  }

  @Test func whatATerminalWouldObeyIsText() {
    #expect(shown(["a\u{1b}[2Jb\u{7}\u{9b}1m"]) == "a\\e[2Jb\\x07\\x9b1m")
    #expect(shown(["one\n\ttwo\r\nthree\rfour"]) == "one\n\ttwo\nthree\\rfour")
    #expect(shown(["\u{202e}x\u{200b}"]) == "\\u{202e}x\\u{200b}")
  }

  /// Cut anywhere, what is shown in the end is what is shown at once.
  @Test(arguments: [
    "e\u{301}a\u{302}\u{303} \u{301}", "👩\u{200d}🚀 ok \u{200d}", "❤\u{fe0f}a\u{fe0f}",
    "1\u{fe0f}\u{20e3}", "a\r\nb\rc\r", "\u{301}\u{301}", "क\u{94d}\u{200d}ष",
    "x" + String(repeating: "\u{301}", count: 20) + "y", "日本\u{3099}\u{200d}\u{200d}x",
    "\u{1b}]0;t\u{7}\n\u{301}", "👍\u{1f3fd}\u{200d}\u{200d}👍",
  ])
  func cutsMakeNoDifference(text: String) {
    let whole = StreamedText.visible(text)
    let scalars = Array(text.unicodeScalars)
    var texts = scalars.indices.map { index -> String in
      var piece = ""
      piece.unicodeScalars.append(contentsOf: scalars[...index])
      return piece
    }
    #expect(shown(texts) == whole)
    texts = texts.enumerated().filter { $0.offset % 3 == 2 }.map(\.element) + [text]
    #expect(shown(texts) == whole)
  }

  @Test func whatTheNextDecidesIsHeldBack() {
    #expect(shown(["👩\u{200d}"], isWhole: false) == "👩")
    #expect(shown(["a\r"], isWhole: false) == "a")
    #expect(shown(["a\r"]) == "a\\r")
  }

  @Test func aBeginningIsKnown() {
    var streamed = StreamedText()
    _ = streamed.receive("Hello", isWhole: false)
    #expect(streamed.isBeginning(of: "Hello there"))
    #expect(!streamed.isBeginning(of: "Help"))
  }
}
