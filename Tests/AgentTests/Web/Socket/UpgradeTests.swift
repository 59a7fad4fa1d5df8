import Core
import Testing

@testable import Web

/// The handshake of a WebSocket, and the answer to it.
@Suite struct UpgradeTests {
  private static func upgrade(
    _ url: String = "ws://a/x", headers: [Header] = [], subprotocols: [String] = []
  ) throws -> Upgrade {
    let request = Request(try WebAddress(socket: url), privateHeaders: headers)
    // The key of RFC 6455, section 1.3.
    return Upgrade(
      request, subprotocols: subprotocols, agent: "t/1", key: Array("the sample nonce".utf8))
  }

  private static func lines(_ upgrade: Upgrade) -> [String] {
    String(decoding: upgrade.bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  @Test func theAcceptOfTheStandard() throws {
    let upgrade = try Self.upgrade()
    #expect(upgrade.key == "dGhlIHNhbXBsZSBub25jZQ==")
    #expect(upgrade.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test func keysAreFresh() throws {
    let request = Request(try WebAddress(socket: "ws://a/"))
    let keys = (0..<100).map { _ in Upgrade(request, subprotocols: [], agent: "").key }
    #expect(Set(keys).count == 100)
  }

  @Test(arguments: [
    ("ws://a/x?y=1#z", "GET /x?y=1 HTTP/1.1", "Host: a"),
    ("wss://a:443", "GET / HTTP/1.1", "Host: a"), ("WSS://A:80/", "GET / HTTP/1.1", "Host: a:80"),
    ("http://[::1]:81?q", "GET /?q HTTP/1.1", "Host: [::1]:81"),
  ])
  func requestLines(url: String, line: String, host: String) throws {
    let lines = Self.lines(try Self.upgrade(url))
    #expect(lines[0] == line)
    #expect(lines[1] == host)
    #expect(lines.contains("Upgrade: websocket"))
    #expect(lines.contains("Connection: Upgrade"))
    #expect(lines.contains("Sec-WebSocket-Version: 13"))
  }

  @Test func headersOfTheUser() throws {
    let upgrade = try Self.upgrade(
      headers: [
        Header("user-agent", "me"), Header("Sec-WebSocket-Key", "mine"),
        Header("Sec-WebSocket-Extensions", "permessage-deflate"), Header("X-Token", "abc"),
        Header("Sec-WebSocket-Protocol", "b, c"),
      ], subprotocols: ["a", "b"])
    let lines = Self.lines(upgrade)
    #expect(lines.contains("user-agent: me"))
    #expect(!lines.contains { $0.hasPrefix("User-Agent") })
    #expect(lines.filter { $0.lowercased().hasPrefix("sec-websocket-key") }.count == 1)
    #expect(!lines.contains { $0.hasPrefix("Sec-WebSocket-Extensions") })
    #expect(lines.contains("X-Token: abc"))
    #expect(lines.contains("Sec-WebSocket-Protocol: a, b, c"))
  }

  @Test func userInformationBecomesAHeader() throws {
    let lines = Self.lines(try Self.upgrade("ws://me:pa%3Ass@a/"))
    #expect(lines.contains("Authorization: Basic bWU6cGE6c3M="))
    let own = try Self.upgrade("ws://me:x@a/", headers: [Header("authorization", "Bearer y")])
    #expect(Self.lines(own).filter { $0.lowercased().hasPrefix("authorization") }.count == 1)
  }

  @Test func addresses() throws {
    let address = try WebAddress(socket: "wss://u:p@h/p?q")
    #expect(address.socketDisplay == "wss://h/p")
    #expect(throws: Failure("not a ws or wss url")) {
      try WebAddress(socket: "ftp://h/")
    }
  }

  private static let good = [
    "Upgrade: WebSocket", "Connection: keep-alive, upgrade",
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
  ]

  private static func fault(_ lines: [String], subprotocols: [String] = []) throws -> String? {
    var head = try #require(ResponseHead(statusLine: "HTTP/1.1 101 Switching"))
    head.headers = lines.compactMap(Header.init(receivedLine:))
    return try upgrade(subprotocols: subprotocols).fault(of: head)
  }

  @Test func answersThatFit() throws {
    #expect(try Self.fault(Self.good) == nil)
    #expect(try Self.fault(Self.good, subprotocols: ["a"]) == nil)
    #expect(try Self.fault(Self.good + ["sec-websocket-protocol: a"], subprotocols: ["a"]) == nil)
    #expect(try Self.fault(Self.good + ["Sec-WebSocket-Extensions:"]) == nil)
  }

  @Test func answersThatDoNot() throws {
    for index in Self.good.indices {
      var lines = Self.good
      lines.remove(at: index)
      #expect(try Self.fault(lines) != nil)
    }
    for more in [
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: b",
      "Sec-WebSocket-Extensions: permessage-deflate",
    ] {
      #expect(try Self.fault(Self.good + [more], subprotocols: ["a"]) != nil)
    }
    let lower = Self.good.map { $0.replacing("s3pP", with: "S3pP") }
    #expect(try Self.fault(lower) != nil)
  }

  // MARK: - Answers in pieces

  private enum Read: Equatable {
    case more
    case switched(rest: String)
    case answered(Int, String)
    case bad
  }

  private static func read(_ pieces: [[UInt8]], end: Bool = false) -> Read {
    var reader = AnswerReader(mask: SecretMask())
    func plain(_ progress: AnswerReader.Progress, _ piece: [UInt8]) -> Read {
      switch progress {
      case .more: .more
      case .switched(_, let rest): .switched(rest: String(decoding: piece[rest...], as: UTF8.self))
      case .answered(let head, let body):
        .answered(head.status, String(decoding: body, as: UTF8.self))
      case .bad: .bad
      }
    }
    for piece in pieces {
      let found = plain(piece.withUnsafeBytes { reader.receive($0) }, piece)
      if found != .more { return found }
    }
    return end ? plain(reader.finish(), []) : .more
  }

  @Test(arguments: [
    ("HTTP/1.1 401 No\r\nContent-Length: 5\r\n\r\nhello, more", 401, "hello"),
    ("HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 E\nLink: x\n\nHTTP/1.0 500\n\n", 500, ""),
    (
      "HTTP/1.1 503 X\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
      503, "abc0123456789"
    ),
    ("HTTP/1.1 404 X\r\n\r\nto the end", 404, "to the end"),
    ("HTTP/1.1 204 X\r\nContent-Length: 9\r\n\r\n", 204, ""),
    ("HTTP/1.1 400 X\r\nContent-Length: 9\r\n\r\ncut", 400, "cut"),
  ])
  func answersAtEveryCut(text: String, status: Int, body: String) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(Self.read(pieces, end: true) == .answered(status, body))
    }
    #expect(Self.read(bytes.map { [$0] }, end: true) == .answered(status, body))
  }

  @Test func framesBehindTheHead() {
    let head = Array("HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n".utf8)
    #expect(Self.read([head + [65, 66]]) == .switched(rest: "AB"))
    #expect(Self.read([head]) == .switched(rest: ""))
  }

  @Test func noAnswers() {
    #expect(Self.read([Array("SSH-2.0-x\r\n".utf8)]) == .bad)
    #expect(Self.read([Array("HTTP/1.1 200 X\r\n".utf8)], end: true) == .bad)
    #expect(Self.read([], end: true) == .bad)
    let endless = Array("HTTP/1.1 101 X\r\n".utf8) + [UInt8](repeating: 97, count: 70_000)
    #expect(Self.read([endless]) == .bad)
    let interim = Array(String(repeating: "HTTP/1.1 100 X\r\n\r\n", count: 4000).utf8)
    #expect(Self.read([interim]) == .bad)
  }
}
