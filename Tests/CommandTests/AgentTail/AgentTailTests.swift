import Agent
import Core
import Testing

@testable import agent_tail

/// The command line of agent-tail.
@Suite struct AgentTailTests {
  private func options(_ words: String...) throws -> AgentTailOptions {
    try AgentTailOptions.table.parse(words, AgentTailOptions())
  }

  @Test func profilesAreListed() throws {
    #expect(try options().profiles == [])
    #expect(try options("-p", "b,a", "-p", "c,b").profiles == ["b", "a", "c"])
    #expect(try options("-p", "a,b").isSeveral)
    #expect(try !options("-p", "a,a").isSeveral)
    #expect(try options("-n", "3", "--state", "s", "-p", "a").follow.count == 3)
    #expect(try options("-p", "a", "main").wishes.thread == "main")
  }

  @Test(arguments: [
    ["-p", ""], ["-p", "a,"], ["-p", "a,b", "--token-file", "t"], ["a", "b"], ["--state", ""],
    ["-n", "many"],
  ])
  func mistakesAreNamed(words: [String]) {
    #expect(throws: UsageError.self) {
      try AgentTailOptions.table.parse(words, AgentTailOptions())
    }
  }

  @Test(arguments: [
    ("home", "home"), ("", ""), ("..", "%2E."), ("a/b", "a%2Fb"), ("a b%", "a%20b%25"), ("é", "é"),
  ])
  func namesOfFiles(name: String, file: String) {
    #expect(AgentTailOptions.fileName(name) == file)
  }
}
