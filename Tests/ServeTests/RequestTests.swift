import Core
import Testing

@testable import agent_serve

@Suite("Requests")
struct RequestTests {
  /// Gives bytes in pieces.
  private final class Pieces {
    private var bytes: ArraySlice<UInt8>
    private let size: Int

    init(_ text: String, size: Int) {
      bytes = Array(text.utf8)[...]
      self.size = size
    }

    func next() -> [UInt8] {
      let piece = Array(bytes.prefix(size))
      bytes = bytes.dropFirst(size)
      return piece
    }
  }

  private func reader(_ text: String, size: Int = 4096) -> RequestReader {
    let pieces = Pieces(text, size: size)
    return RequestReader { pieces.next() }
  }

  @Test("Requests on one connection, cut at every size", arguments: [1, 2, 3, 5, 7, 11, 64, 4096])
  func pieces(_ size: Int) async throws {
    var reader = reader(
      "\r\nPOST /a?b=c&d HTTP/1.1\r\nHost: x\r\ncontent-length:  5 \r\n\r\nhello"
        + "GET /e HTTP/1.1\r\nHost: x\r\nX: 1\r\nx: 2\r\n\r\n"
        + "POST /f HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
        + "GET /g HTTP/1.0\r\n\r\n", size: size)
    let first = try #require(try await reader.head())
    #expect(first.method == "POST")
    #expect(first.path == "/a")
    #expect(first.query == "b=c&d")
    #expect(first["HOST"] == "x")
    #expect(first.keepsAlive)
    #expect(try await reader.body(first.framing, keeps: true) == .whole(Array("hello".utf8)))
    let second = try #require(try await reader.head())
    #expect(second["x"] == "1, 2")
    #expect(try await reader.body(second.framing, keeps: true) == .whole([]))
    let third = try #require(try await reader.head())
    #expect(third.framing == .chunked)
    #expect(
      try await reader.body(third.framing, keeps: true) == .whole(Array("abc0123456789".utf8)))
    let fourth = try #require(try await reader.head())
    #expect(fourth.isOld)
    #expect(!fourth.keepsAlive)
    #expect(try await reader.head() == nil)
  }

  // Tests/cli/servers/requests.table has them all, over a socket.
  @Test(
    "What two readers could understand differently is refused",
    arguments: [
      "GET /a\r\n\r\n", "GET /a HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nHo",
      "GET /a HTTP/1.1\nHost: x\r\n\r\n", "GET /a HTTP/1.1\r\nHost: x\n\r\n",
    ])
  func malformed(_ text: String) async {
    var reader = reader(text)
    await #expect(throws: RequestFault.malformed) { try await reader.head() }
  }

  @Test(
    "Chunks that are none",
    arguments: ["x\r\n", "-1\r\n", "\r\n", "FFFFFFFFFFFFFFFF\r\n", "1\r\nab"])
  func chunks(_ text: String) async {
    var reader = reader(text)
    await #expect(throws: (any Error).self) { try await reader.body(.chunked, keeps: true) }
  }

  @Test("A head has a limit, and so does a line of a chunk")
  func limits() async {
    let long = String(repeating: "x", count: RequestReader.headLimit + 10)
    var head = reader("GET /a HTTP/1.1\r\nX: " + long)
    await #expect(throws: RequestFault.headTooLarge) { try await head.head() }
    var chunk = reader(long + long)
    await #expect(throws: RequestFault.headTooLarge) { try await chunk.body(.chunked, keeps: true) }
  }

  @Test("A body over the limit is read to its end and not kept")
  func tooLarge() async throws {
    let size = RequestReader.bodyLimit + 1
    var reader = reader(
      String(repeating: "x", count: size) + "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", size: 65536)
    #expect(try await reader.body(.length(size), keeps: true) == .tooLarge(isDrained: true))
    #expect(try await reader.head()?.path == "/a")
    #expect(
      try await reader.body(.length(1 << 40), keeps: true) == .tooLarge(isDrained: false))
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
    #expect(try RequestTarget(Array(written.utf8)[...], method: "GET").path == path)
  }

  @Test("An answer's length is the body's, also without the body")
  func answer() {
    let now = Timestamp(seconds: 784_111_777)
    let answer = WholeAnswer.json("{}")
    let head = String(decoding: answer.bytes(isHead: true, now: now), as: UTF8.self)
    #expect(
      head
        == "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n")
    #expect(String(decoding: answer.bytes(isHead: false, now: now), as: UTF8.self) == head + "{}")
  }
}
