import Testing

@testable import Core

struct PlainTextTests {
  @Test(arguments: [
    ("", "", 0), ("abc", "", 0), ("abc", "abc", 0), ("aab", "ab", 1), ("xyz", "z", 2),
    ("ä-b", "-", 2),
  ])
  func isFound(text: String, part: String, at: Int) throws {
    let place = try #require(text.place(of: part))
    #expect(text.utf8.distance(from: text.startIndex, to: place.lowerBound) == at)
    #expect(text[place] == part[...])
    #expect(text.holds(part))
  }

  @Test(arguments: [("", "a"), ("ab", "abc"), ("ab", "ba"), ("a\u{301}", "\u{e1}")])
  func isNotFound(text: String, part: String) {
    #expect(text.place(of: part) == nil)
    #expect(!text.holds(part))
  }

  @Test func eachIsExchanged() {
    #expect("a-b-".exchanging("-", for: "__") == "a__b__")
    #expect("".exchanging("-", for: "_") == "")
    #expect("aXYaXYXYb".exchanging(text: "XY", for: "-") == "a-a--b")
    #expect("aaa".exchanging(text: "aa", for: "aaa") == "aaaa")
    #expect("abc".exchanging(text: "", for: "-") == "abc")
    #expect("it's".exchanging("'", for: "\\'") == "it\\'s")
  }
}
