import Core
import NIOHTTP1
import Testing

@testable import agent_serve

@Suite("Requests")
struct RequestTests {
  private func head(
    _ target: String, _ fields: [(String, String)], version: HTTPVersion = .http1_1
  ) throws(RequestFault) -> RequestHead {
    try RequestHead(
      HTTPRequestHead(version: version, method: .POST, uri: target, headers: HTTPHeaders(fields)))
  }

  @Test("What the parser understood, in our words")
  func understood() throws {
    let first = try head(
      "/a?b=c&d", [("Host", "x \t"), ("content-length", "05"), ("X", "1"), ("x", "2")])
    #expect(first.method == "POST")
    #expect(first.path == "/a")
    #expect(first.query == "b=c&d")
    #expect(first["HOST"] == "x")
    #expect(first["x"] == "1, 2")
    #expect(first.framing == .length(5))
    #expect(first.keepsAlive)
    #expect(try head("/a", [("Host", "x"), ("Transfer-Encoding", "Chunked ")]).framing == .chunked)
    #expect(try !head("/a", [("Host", "x"), ("Connection", "a ,\tClose")]).keepsAlive)
    let old = try head("/a", [], version: .http1_0)
    #expect(old.isOld)
    #expect(!old.keepsAlive)
    // The parser reads nothing behind it.
    #expect(
      try !head("/a", [("Host", "x"), ("Connection", "Upgrade"), ("Upgrade", "h2c")]).keepsAlive)
  }

  // Tests/cli/servers/requests.table has them all, over a socket.
  @Test(
    "What two servers could understand differently is refused",
    arguments: [
      [], [("Host", "x"), ("Host", "x")], [("Host", "x"), ("Content-Length", "5, 5")],
      [("Host", "x"), ("Content-Length", "+5")], [("Host", "x"), ("Transfer-Encoding", "")],
      [("Host", "x"), ("Transfer-Encoding", "gzip, chunked")],
      [("Host", "x"), ("Transfer-Encoding", "\u{a0}chunked")],
      [("Host", "x"), ("Transfer-Encoding", "chunked"), ("Content-Length", "5")],
    ])
  func refused(_ fields: [(String, String)]) {
    #expect(throws: RequestFault.malformed) { try head("/a", fields) }
  }

  @Test(
    "A path is decoded, but for what would end a segment",
    arguments: [
      ("/api/%68ealth", "/api/health"), ("/%61pi/he%61lth", "/api/health"), ("/a%2Fb", "/a%2Fb"),
      ("/a%3fb%23c%25d", "/a%3fb%23c%25d"), ("/%C3%A9", "/é"), ("/%C3%", "/%C3%"),
      ("/%c3%28", "/%c3%28"), ("/%ff%41/%41", "/%ff%41/A"), ("/%4", "/%4"), ("/%zz%+1", "/%zz%+1"),
      ("/%", "/%"), ("/%2e%2e/a", "/../a"),
    ])
  func decodedPath(_ written: String, _ path: String) throws {
    #expect(try RequestTarget(written, method: "GET").path == path)
  }

  @Test("The head of an answer")
  func answer() {
    var answer = WholeAnswer.json("{}", status: 421)
    let head = answer.head(now: Timestamp(seconds: 784_111_777))
    #expect(head.status.reasonPhrase == "Misdirected Request")
    #expect(
      head.headers.map { "\($0.name): \($0.value)" } == [
        "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Content-Type: application/json",
        "Content-Length: 2",
      ])
    answer.closes = true
    #expect(answer.head().headers.first(name: "connection") == "close")
  }
}
