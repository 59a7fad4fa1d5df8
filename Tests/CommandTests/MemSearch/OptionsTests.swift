import Core
import Testing

@testable import mem_search

/// The command line.
@Suite struct OptionsTests {
  private func options(_ words: String...) throws -> MemOptions {
    try MemOptions.table.parse(words, MemOptions())
  }

  @Test func modes() throws {
    #expect(try options("a", "b").text == "a b")
    #expect(try options("-f").mode == .facts)
    #expect(try options("--fact-profile", "9").id == "9")
    #expect(try options("--edit", "9", "--fact", "x").hasChange)
    #expect(try options("-1", "q").count == 1)
    #expect(try options("-f", "-t", "Profile,OTHER").types == ["profile", "other"])
  }

  @Test(arguments: [
    [], [""], ["  "], ["-f", "--subjects"], ["--subjects", "x"], ["--delete"],
    ["--edit", "1", "--edit", "2"],
    ["--fact", "x", "q"], ["--limit", "0", "q"], ["--limit", "-1", "q"], ["--min-score", "x", "q"],
    ["--offline", "-M"], ["-R", "a", "b"], ["--mode", "chat", "--snapshot"], ["-o", "xml", "q"],
    ["-1", "--subjects"], ["--yes", "q"], ["--edit", ""], ["--edit", "1", "-t", "a,b"],
  ])
  func nonsense(words: [String]) {
    #expect(throws: UsageError.self) { try MemOptions.table.parse(words, MemOptions()) }
  }
}
