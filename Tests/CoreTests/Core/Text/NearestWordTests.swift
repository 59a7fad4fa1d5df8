import Testing

@testable import Core

@Suite struct NearestWordTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("list", "list", 0), ("lsit", "list", 1), ("lis", "list", 1),
    ("lists", "list", 1), ("lost", "list", 1), ("tsil", "list", 3), ("kitten", "sitting", 3),
    ("verison", "version", 1), ("acions", "actions", 1), ("ca", "abc", 3),
  ])
  func aDistanceIsCounted(_ one: String, _ other: String, _ distance: Int) {
    #expect(NearestWord.distance(Array(one.utf8), Array(other.utf8)) == distance)
    #expect(NearestWord.distance(Array(other.utf8), Array(one.utf8)) == distance)
  }

  @Test func theNearestIsMeant() {
    let words = ["version", "verbose", "list", "last", "lost", "watch"]
    #expect(NearestWord.hint(for: "verison", among: words) == ": did you mean version?")
    #expect(NearestWord.hint(for: "lit", among: words) == ": did you mean list?")
    #expect(NearestWord.hint(for: "l\u{fc}st", among: words) == "")
    #expect(
      NearestWord.hint(for: "cast", among: ["last", "case", "--x"], after: "-")
        == ": did you mean -last or -case?")
    // Too many, too far, too short, or the word itself.
    #expect(NearestWord.hint(for: "lxst", among: words) == "")
    #expect(NearestWord.hint(for: "verzzzn", among: words) == "")
    #expect(NearestWord.hint(for: "li", among: words) == "")
    #expect(NearestWord.hint(for: "", among: words) == "")
    #expect(NearestWord.hint(for: "list", among: ["list"]) == "")
    #expect(
      NearestWord.hint(for: String(repeating: "x", count: 100_000), among: words) == "")
  }
}
