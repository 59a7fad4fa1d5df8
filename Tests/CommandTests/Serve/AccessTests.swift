import Core
import Testing

@testable import agent_serve

@Suite("Addresses, tokens, options")
struct AccessTests {
  @Test("The token is compared whole")
  func token() {
    let token = AccessToken("secret")
    #expect(token.matches("secret"))
    for wrong in [nil, "", "secre", "secrets", "Secret", "secret "] as [String?] {
      #expect(!token.matches(wrong), "\(wrong ?? "nil")")
    }
  }

  @Test(
    "Loopback is 127.0.0.0/8 and ::1",
    arguments: [
      ("127.0.0.1:0", true), ("127.9.8.7:1", true), ("[::1]:8787", true), ("localhost:0", true),
      ("0.0.0.0:0", false), ("[::]:0", false), ("192.0.2.1:80", false),
    ])
  func loopback(_ text: String, _ isLoopback: Bool) throws {
    #expect(try ListenAddress(text).isLoopback == isLoopback)
  }

  @Test("A server answers to its address, to the name it was given, and to loopback")
  func names() throws {
    let box = try #require(Authority("Box:9"))
    let names = try ListenAddress("localhost:0").names + [box]
    for name in ["localhost", "127.1.2.3:1", "[::1]", "a.LOCALHOST.", "box:9", "BOX.:9"] {
      #expect(names.serve(Authority(name)), "\(name)")
    }
    for name in ["box", "box:8", "[::2]", "127.0.0.1.example", "0.0.0.0", "127.1"] {
      let authority = try #require(Authority(name))
      #expect(!names.serve(authority), "\(name)")
    }
    #expect(names.serve(nil))
    for text in ["", ":1", "a b", "a:b", "a:1:2", "[::1", "[::1]x", "[a]", "a@b", "a/b", "é"] {
      #expect(Authority(text) == nil, "\(text)")
    }
  }

  @Test(
    "What is not an address is refused",
    arguments: ["", "127.0.0.1", ":80", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "[::1]"])
  func noAddress(_ text: String) {
    #expect(throws: UsageError.self) { try ListenAddress(text) }
  }

  @Test("Options are read, and wrong values refused")
  func options() throws {
    let options = try ServeOptions.table.parse(
      ["-l", "[::1]:0", "-D", ":memory:", "--replay", "f", "--speed", "0", "-q"], ServeOptions())
    #expect(options.listen.text == "[::1]:0")
    #expect(options.speed == 0)
    #expect(options.isQuiet)
    for wrong in [["--speed", "-1"], ["--speed", "x"], ["--max-backlog", "0"], ["operand"]] {
      #expect(throws: UsageError.self, "\(wrong)") {
        try ServeOptions.table.parse(wrong, ServeOptions())
      }
    }
  }
}
