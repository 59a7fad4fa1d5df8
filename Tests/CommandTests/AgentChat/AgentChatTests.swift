import Core
import Testing
import Web

@testable import agent_chat

/// The command line of agent-chat, and what it attaches.
@Suite struct AgentChatTests {
  private func options(_ words: String...) throws -> ChatOptions {
    try ChatOptions.table.parse(words, ChatOptions())
  }

  @Test func wordsAreTheMessage() throws {
    #expect(try options("how", "are", "you").words == "how are you")
    #expect(try options().words == nil)
    #expect(try options("-").words == nil)
    #expect(try options("-", "x").words == "- x")
    #expect(try options("-t", "side", "-a", "heron", "--", "-x").words == "-x")
  }

  @Test func modesAreTold() throws {
    #expect(try options("--history").mode == .history)
    #expect(try options("--history", "--history", "-n", "3").count == 3)
    #expect(try options("-i").mode == .interactive)
    #expect(try options("-i", "hello").words == "hello")
    #expect(try options("--abort").mode.isTalk)
    #expect(try !options("--threads").mode.isTalk)
  }

  @Test func oneQuestionDoesNotTryForEver() throws {
    #expect(try options("x").policy.maxRetries == 5)
    #expect(try options("--max-retries", "0", "x").policy.maxRetries == 0)
    #expect(try options("-w", "x").policy.maxRetries == nil)
    #expect(try options("-i").policy.maxRetries == nil)
  }

  @Test func keysAreRandom() {
    let key = randomUUID()
    #expect(key != randomUUID())
    let parts = key.split(separator: "-").map(\.count)
    #expect(parts == [8, 4, 4, 4, 12])
    #expect(Array(key)[14] == "4")
    #expect("89ab".contains(Array(key)[19]))
  }

  @Test(arguments: [
    ("a.png", "\u{89}", "image/png"), ("notes", "plain words", "text/plain"),
    ("a.md", "# x", "text/markdown"), ("A.JSON", "{}", "application/json"),
    ("x.png", "%PDF-1.7", "application/pdf"), (".csv", "a,b", "text/plain"),
    ("blob", "a\0b", "application/octet-stream"), ("s.svg", "<svg", "image/svg+xml"),
    ("p", "RIFF....WEBPVP8 ", "image/webp"), ("v", "....ftypheic", "image/heic"),
  ])
  func filesAreKnown(name: String, text: String, type: String) {
    let isPicture = text == "\u{89}"
    let bytes = isPicture ? [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] : Array(text.utf8)
    #expect(AttachedFile.mediaType(name, bytes) == type)
  }

  @Test func namesHaveNoFolder() {
    #expect(AttachedFile.name(of: "/a/b/c.txt") == "c.txt")
    #expect(AttachedFile.name(of: "c.txt") == "c.txt")
    #expect(AttachedFile.name(of: "/") == "")
  }
}
