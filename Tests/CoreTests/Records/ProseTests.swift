import Prose
import Testing

@Suite struct ProseTests {
  @Test(arguments: [
    ("", ""), ("Done.", "Done."), ("I'll build it", "I'll build it"), (" \n\t\r\n ", ""),
    ("one\ntwo\r\nthree\rfour", "one two three four"), ("a  \nb\\\nc", "a b c"),
    ("One.\n\nTwo", "One. Two"), ("One\n\nTwo!\n\nThree:\n\nFour", "One. Two! Three: Four"),
    ("Er sagt „ja“.\n\n好。\n\nOk", "Er sagt „ja“. 好。 Ok"), ("👍 👨‍👩‍👧", "👍 👨‍👩‍👧"), ("...", ""), ("()", ""),
  ])
  func wordsStay(markdown: String, prose: String) {
    #expect(Prose.of(markdown) == prose)
  }

  @Test(arguments: [
    ("A\n```\ncode\n```\nB", "A. B"), ("A\n```sh\ncode\n\nmore", "A"),
    ("~~~\ncode\n```\n~~~\nB", "B"), ("````\n```\ncode\n```\n````\nB", "B"),
    ("```\ncode\n``\n~~~\n    ```\nB", ""), ("A\n``` `x` ```\nB", "A B"),
    ("- One:\n  ```\n  code\n  ```\n- Two", "One: Two"), ("- ```\n  code\n  ```\nB", "B"),
    ("> Look:\n> ```\n> code\nB", "Look: B"), ("> > ```\n> > code\n> > ```\n> > B", "B"),
    ("A\n\n    code\n\n    more\n\nB", "A. B"), ("    code\nB", "B"),
    ("A\n    goes on", "A goes on"),
    ("- A\n\n    goes on\n\n      x\n\nB", "A. goes on. B"), ("\tcode\nB", "B"),
    ("- A\n        - B", "A - B"), ("<pre>\ncode\n\nmore\n</pre>\nB", "B"), ("<script>x", ""),
    ("<StyledButton> is new.\n\nB", "is new. B"), ("<PreviewPane/>\n\nB", "B"),
    ("<ScriptX> x\n\nB", "x. B"), ("<style\nmedia=x>\nb{}\n</style>\nB", "B"),
    ("Use <code>x</code> now", "Use now"), ("<!-- a\n\nb -->\nB", "B"), ("a <!-- b --> c", "a c"),
  ])
  func blocksOfCodeAreLeftOut(markdown: String, prose: String) {
    #expect(Prose.of(markdown) == prose)
  }

  @Test(arguments: [
    ("Run `make all` now.", "Run now."), ("Run `make`.", "Run."), ("`` a ` b `` c", "c"),
    ("a ` b", "a b"), ("a `` b ` c", "a b c"), ("a `b\nc` d", "a d"), ("a `b\n\nc` d", "a b. c d"),
    ("In `a`, `b`, and `c`.", "In, and."), ("(see `x`) and (`y`) too", "(see) and too"),
    ("Use `a`/`b`.", "Use."), ("Use **`a`** / **`b`** now", "Use now"), ("a / b", "a / b"),
    ("called \"`x`\" here", "called here"), ("- `foo`: does x\n- `bar` — does y", "does x. does y"),
    ("Is it `x`? Yes (`y`).", "Is it? Yes."), ("`only`", ""), (#"a \`b\` c"#, "a b c"),
  ])
  func codeInLineIsLeftOut(markdown: String, prose: String) {
    #expect(Prose.of(markdown) == prose)
  }

  @Test(arguments: [
    ("See https://a.example/b?c=(d)&e#f.", "See."), ("(http://a.example)", ""),
    ("<https://a.example/b> x", "x"), ("<ada@a.example> x", "ada@a.example x"),
    ("at www.a.example, ok", "at, ok"),
    ("mailto:ada@a.example x", "x"), ("see:https://a.example x", "see: x"),
    ("[the page](https://a.example/b_(c) \"Title (x)\") is up", "the page is up"),
    ("[a](<b c>) d", "a d"), ("[a]() b", "a b"),
    (
      "[the page][1] x\n\n[1]: https://a.example 'T'",
      "the page x"
    ),
    ("[a] and [b](c d)", "a and b(c d)"), ("![A chart](c.png) x", "A chart x"),
    ("[![Build](a.svg)](https://a.example) ok", "Build ok"),
    (
      "A note[^1] x.\n\n[^1]: Why.",
      "A note x. Why."
    ), ("[Note]: this is text", "Note: this is text"), ("日本https://a.example。はい", "日本。はい"),
    ("**https://a.example/**", ""), ("[a [b](c) d](e) f", "a b d(e) f"),
    ("x data:text/plain,abc", "x"),
    ("[`code`](x) y", "y"), ("[a](b \"c\" d", "a(b \"c\" d"),
  ])
  func linksKeepTheirWords(markdown: String, prose: String) {
    #expect(Prose.of(markdown) == prose)
  }

  @Test(arguments: [
    "/etc/hosts", "/tmp", "~/x", "~ada/x", "./x", "../x", "src/x.swift", "src/x.swift:12:3",
    ".ci/run",
    "C:\\x", "C:\\Users\\ada", "c:/x", "\\\\server\\share", "src\\x.swift", "$HOME/x", "Sources/",
    "Sources/Core/Text", "Tests/cli/*.t", "**/*.swift", "a/b.md#L3", "/home/jörg/x", "key=/etc/x",
    "~/文書/報告.md", "/文書/報告.md", "/home/日本/secret.txt", "https://é.fr/ü?x=日本#y",
    "https://a.example/日本語", "@张三", "#频道", "foo#12", "ada/foo#12",
    "ada/foo.js#12's", "github.com/foo", "GitHub.com/foo", "localhost:8080/x", "localhost:8080",
    "127.0.0.1:80", "a.example:8080", "a.example/",
    "git@a.example:ada/x.git", "#123", "@ada", "#general", "@scope/pkg", "#12's", "(/etc/hosts)",
  ])
  func pathsAndReferencesAreLeftOut(word: String) {
    #expect(Prose.of("Look at \(word), then go on") == "Look at, then go on")
    #expect(Prose.of("Look at **\(word)**.") == "Look at.")
    #expect(Prose.of("Look at \"\(word)\"") == "Look at")
  }

  @Test(arguments: [
    "and/or", "TCP/IP", "24/7", "1/2", "2026/03/14", "HTTP/1.1", "I/O.", "a / b", "n/a", "C#",
    "# 1",
    "ada@a.example", "x.swift", "snake_case", "__x", "2*3*4", "2 * 3", "~5", "a < b > c",
    "a<b, c>d", "if (a<b && c>d) then", "a<b c='d", "入力/出力", "C#12", "x#y",
    "Node.js/Express", "3:15", "10.30:00", "e.g/x", "localhost", "Vec<a, b>", "a/日本", "foo#12a",
    "f(x)", "don't", "'so'", "x = y", "a -> b", "R&D", "50 %", "f(a, b) = c", "\\alpha", "a|b",
    "“so”", "– so –", "Wow!", "Why (so)?", "a - b", "-5", "x: 3", "1. ",
  ])
  func otherWordsAreKept(word: String) {
    let prose = Prose.of("It is \(word) x")
    #expect(prose == "It is \(word.replacing("1. ", with: "1.")) x")
  }

  @Test(arguments: [
    ("# One\n## Two ##\nThree", "One. Two. Three"), ("# C#", "C#"), ("#\nA", "A"),
    ("####### A", "####### A"),
    ("One\n===\nTwo\n---\nThree", "One. Two. Three"), ("A\n\n* * *\n___\nB", "A. B"),
    ("- One\n- Two\n  goes on\n* Three\n+ Four", "One. Two goes on. Three. Four"),
    ("1. One\n2) Two\n10. Ten", "One. Two. Ten"),
    ("In the year\n1984. It was", "In the year 1984. It was"),
    ("- [ ] To do\n- [x] Done\n- [link](x)", "To do. Done. link"), ("- - a\n  - b", "a. b"),
    ("> One\n>two\n> > three\n\nB", "One two. three. B"), ("> [!NOTE]\n> Text", "Text"),
    ("**bold** *it* __b__ _i_ ~~s~~ ***x***", "bold it b i s x"),
    (
      "un*frigging*believable",
      "unfriggingbelievable"
    ), ("5* rated", "5* rated"), ("\\*a\\* \\# \\[x\\]", "*a* # x"),
    ("<a title='b>c' d=e f>S</a >", "S"), ("See «@bob» now", "See now"),
    ("See “`x`”.", "See."), ("「`x`」です", "です"),
    ("a<br>b <b>c</b> H<sub>2</sub>O <img src=\"x\"/>", "a b c H2O"),
    (
      "<details>\n<summary>S</summary>\nT",
      "S T"
    ), ("a &amp; b &lt;c&gt;&nbsp;&quot;d&quot;", "a & b <c> \"d\""),
    ("a\u{a0}b\u{3000}c", "a b c"),
    ("| A | B |\n|---|:-:|\n| 1 | `x` |\n| 2 | a \\| b |\n\nC", "A, B. 1. 2, a | b. C"),
    ("A | B\n--|--\n1 | 2\nC", "A, B. 1, 2. C"), ("Text\n| A |\n|---|", "Text. A"),
  ])
  func marksAreLeftOut(markdown: String, prose: String) {
    #expect(Prose.of(markdown) == prose)
  }

  @Test func whatCannotBeSeenIsLeftOut() {
    #expect(Prose.of("a\u{1b}[31mb\u{7}\u{202e}c\u{0}d\u{2028}e\u{e0041}") == "ab c d e")
    let nothing = String(repeating: "\u{200b}", count: 6500)
    #expect(Prose.of(nothing + "Done.") == "Done.")
    #expect(Prose.of("a" + String(repeating: "\u{ad}", count: 8000) + "b") == "ab")
    let heap = "a" + String(repeating: "\u{301}", count: 5000)
    #expect(Prose.of(heap + " b").unicodeScalars.count < 20)
  }

  // MARK: - Length

  @Test func whatIsTooLongEndsWithASentence() {
    let words = String(repeating: "word ", count: 200)
    #expect(Prose.of(words + "end. " + words + "e.g. this " + words) == words + "end.")
    #expect(Prose.of(words + "end.\n\n" + words) == words + "end.")
    #expect(Prose.of(words + "(Is it 3.14?) " + words) == words + "(Is it 3.14?)")
    #expect(Prose.of(words + "終わり。" + words) == words + "終わり。")
    #expect(Prose.of(words + "「終わり。」" + words) == words + "「終わり。」")
    let list = (1...100).map { "- item \($0) of the list" }.joined(separator: "\n")
    let prose = Prose.of(list)
    #expect(prose.hasSuffix(" of the list."))
    #expect((1170...1200).contains(prose.count))
  }

  @Test func withoutASentenceItEndsWithAWord() {
    let prose = Prose.of(String(repeating: "word ", count: 1000))
    #expect(prose == String(repeating: "word ", count: 239) + "word")
    #expect(prose.count == 1199)
    #expect(Prose.of(String(repeating: "x", count: 5000)).count == 1200)
    // A character is what a person takes for one.
    #expect(Prose.of(String(repeating: "👩‍🚀", count: 1300)).count == 1200)
    let fits = String(repeating: "é", count: 1199) + "."
    #expect(Prose.of(fits) == fits)
    #expect(Prose.of(fits + "x").count == 1200)
  }

  /// Whatever of these were looked at again and again would take hours.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "`", "` `` ", "[", "](", "[](", "[a](b", "[a](<", "[][", "*", "_a", "~~", "<", "<a", "<a ",
      "<!--",
      "<code>", "</", "(", "((/", "a(", "!", "![", "[^", "\\", "&", "&amp", "> ", "- ", "1. ", "#",
      "# ",
      "|", "|a\n", "a|\n", "```\n", "~~~", "```x`\n", "    x\n", "\n", "\r", "\t", "- - \n", "/",
      "a/b",
      "://", "@", "#a", "'", "\"", "[a](b \"", "$", "。", "😀", "\u{301}", "a\u{200d}", "[a]: b\n",
      ".", ". ",
      "<pre>\n", "<pre>\n</pre>\n", "-", "=\n", "---\n", "{", "x ",
      "~/日", "/日", "a/日", "日/", "@日", "`a`/", "<a b=\"", "<a b='", "<a b=\"<a c='", "<a b ", "a.b/",
      "a#1", "«", "«/", "\u{200b}",
    ])
  func takesTimeInProportion(piece: String) {
    let text = String(repeating: piece, count: 40_000 / piece.utf8.count)
    #expect(Prose.of("x " + text + " x").count <= 1200)
  }
}
