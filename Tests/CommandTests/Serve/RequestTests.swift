import Core
import Testing

@testable import agent_serve

@Suite("Requests")
struct RequestTests {
  private func head(_ target: String, _ fields: [String], version: String = "1.1") throws
    -> RequestHead
  {
    let lines = ["POST \(target) HTTP/\(version)"] + fields + ["", ""]
    return try Fixture.head(lines.joined(separator: "\r\n"))
  }

  @Test("What a head says")
  func understood() throws {
    let first = try head("/a?b=c&d", ["Host: x \t", "content-length:05", "X:1", "x: 2", "x:"])
    #expect(first.method == "POST")
    #expect(first.path == "/a")
    #expect(first.query == "b=c&d")
    #expect(first["host"] == "x")
    #expect(first["x"] == "1, 2, ")
    #expect(first["y"] == nil)
    #expect(first.framing == .length(5))
    #expect(first.keepsAlive)
    #expect(try head("/a", ["Host: x", "Transfer-Encoding: Chunked "]).framing == .chunked)
    #expect(try !head("/a", ["Host: x", "Connection: a ,\tClose"]).keepsAlive)
    #expect(try head("/a", ["Host: x", "Connection: Upgrade", "Upgrade: h2c"]).keepsAlive)
    let old = try head("/a", [], version: "1.0")
    #expect(old.isOld)
    #expect(!old.keepsAlive)
    // A later version of HTTP/1 is read as ours.
    #expect(try !head("/a", ["Host: x"], version: "1.7").isOld)
  }

  // Tests/cli/servers/requests.table has them all, over a socket.
  @Test(
    "What two servers could understand differently is refused",
    arguments: [
      [], ["Host: x", "Host: x"], ["Host: x", "Content-Length: 5, 5"],
      ["Host: x", "Content-Length: 5", "Content-Length: 5"], ["Host: x", "Content-Length: +5"],
      ["Host: x", "Content-Length:"], ["Host: x", "Content-Length: 99999999999999999999"],
      ["Host: x", "Transfer-Encoding:"], ["Host: x", "Transfer-Encoding: gzip, chunked"],
      ["Host: x", "Transfer-Encoding: \u{a0}chunked"],
      ["Host: x", "Transfer-Encoding: chun\u{212a}ed"],
      ["Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["Host: x", "Transfer-Encoding: chunked", "Content-Length: 5"],
      ["Host: x", "X : y"], ["Host: x", " X: y"], ["Host: x", "X"], ["Host: x", ": y"],
      ["Host: x", "X: a\u{0}b"], ["Host: x", "X: a\rb"], ["Host: x", "X: a\nb"],
      ["Host: x", "X: a\u{7f}b"], ["Host: x", "X: y\n"],
    ])
  func refused(_ fields: [String]) {
    #expect(throws: Refusal.malformed) { try head("/a", fields) }
  }

  @Test(
    "First lines that are none",
    arguments: [
      "GET /a", "GET  /a HTTP/1.1", "GET /a  HTTP/1.1", " GET /a HTTP/1.1", "GET /a HTTP/1.1 ",
      "GET /a http/1.1", "GET /a HTTP/1.", "GET /a HTTP/1.10", "GET /a HTTP/11", "GET /a HTTPS/1.1",
      "GET /a#b HTTP/1.1", "GET /ä HTTP/1.1", "GET a HTTP/1.1", "GET * HTTP/1.1", "G(T /a HTTP/1.1",
      "GET /a\tb HTTP/1.1", "GET", " ", "GET /a HTTP/x.1",
    ])
  func firstLines(_ line: String) {
    #expect(throws: Refusal.malformed) {
      try Fixture.head("\(line)\r\nHost: x\r\n\r\n")
    }
  }

  @Test("Versions of others", arguments: ["2.0", "0.9", "3.0"])
  func versions(_ version: String) {
    #expect(throws: Refusal.unknownVersion) { try head("/a", ["Host: x"], version: version) }
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

  @Test("The bytes of an answer")
  func answer() {
    var answer = WholeAnswer.json("{}", status: 421)
    func text(isHead: Bool = false) -> String {
      String(
        decoding: answer.bytes(isHead: isHead, now: Timestamp(seconds: 784_111_777)),
        as: UTF8.self)
    }
    let head =
      "HTTP/1.1 421 Misdirected Request\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
      + "Content-Type: application/json\r\nContent-Length: 2\r\n"
    #expect(text() == head + "\r\n{}")
    #expect(text(isHead: true) == head + "\r\n")
    answer.closes = true
    #expect(text() == head + "Connection: close\r\n\r\n{}")
  }
}

@Suite("The bytes of requests")
struct RequestParserTests {
  /// What a parser makes of bytes that come in pieces, and how much of them it used up.
  private func read(_ pieces: [[UInt8]]) -> String {
    var parser = RequestParser()
    var held: [UInt8] = []
    var said = ""
    var body: [UInt8] = []
    for piece in pieces {
      held += piece
      while true {
        var used = 0
        let part: RequestParser.Part?
        do {
          part = try held.withUnsafeBytes { bytes in
            let part = try parser.next(bytes, &used)
            if case .data(let range) = part { body += bytes[range] }
            return part
          }
        } catch { return said + (Self.names.first { $0.1 == error as? Refusal }?.0 ?? "\(error)") }
        held.removeFirst(used)
        switch part {
        case .head(let head): said += "\(head.method) \(head.target.path) "
        case .data: break
        case .end:
          said += "[\(String(decoding: body, as: UTF8.self))] "
          body = []
        case nil: break
        }
        if part == nil { break }
      }
    }
    return said + (parser.isWithinRequest ? "..." : "")
  }

  private static let names: [(String, Refusal)] = [
    ("malformed", .malformed), ("headTooLarge", .headTooLarge), ("bodyTooLarge", .bodyTooLarge),
  ]
  private static let host = "Host: x\r\n"
  private static let streams: [(String, String)] = [
    ("GET /a HTTP/1.1\r\n\(host)\r\n", "GET /a [] "),
    ("\r\n\r\nGET /a HTTP/1.1\r\n\(host)\r\n\r\n", "GET /a [] "),
    ("GET /a HTTP/1.1\r\n\(host)\r\nGET /b HTTP/1.0\r\n\r\n", "GET /a [] GET /b [] "),
    ("GET /a HTTP/1.1\r\n\(host)\r\nGET /b\r\n\r\n", "GET /a [] malformed"),
    (
      "POST /a HTTP/1.1\r\n\(host)Content-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n\(host)\r\n",
      "POST /a [abc] GET /b [] "
    ),
    (
      "POST /a HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n"
        + "3;x=\"y\"\r\nabc\r\n00A\r\n0123456789\r\n0\r\nT: u\r\n\r\nGET /b HTTP/1.1\r\n\(host)\r\n",
      "POST /a [abc0123456789] GET /b [] "
    ),
    ("GET /a HTTP/1.1\r\n\(host)X: y", "..."), ("GET /a HTTP/1.1\n", "malformed"),
    ("GET /a HTTP/1.1\rX", "malformed"), ("\u{16}\u{3}\u{1}", "malformed"),
    ("G\u{0}T /a HTTP/1.1\r\n", "malformed"),
  ]
  private static let chunks: [(String, String)] = [
    ("\r\nabc\r\n0\r\n\r\n", "malformed"), ("0x3\r\nabc\r\n", "malformed"),
    ("-3\r\nabc\r\n", "malformed"), ("3 \r\nabc\r\n", "malformed"),
    (" 3\r\nabc\r\n", "malformed"), ("4\r\nabc\r\n0\r\n\r\n", "malformed"),
    ("2\r\nabc\r\n", "malformed"), ("3\nabc\n0\n\n", "malformed"),
    (";x\r\nabc\r\n", "malformed"), ("FFFFFFFFFFFFFFFFF\r\nabc", "malformed"),
    ("ffffffffffffffff\r\nabc", "bodyTooLarge"), ("7fffffffffffffff\r\nabc", "bodyTooLarge"),
    ("3\r\nabc\r\n0\r\nContent-Length: 9\r\n\r\n", "malformed"),
    ("3\r\nabc\r\n0\r\nX : y\r\n\r\n", "malformed"), ("3\r\nabc", "..."),
    ("0\r\n", "..."), ("0\r\n\r\n", "[] "),
  ]

  @Test("The same, wherever they are cut")
  func everyCut() {
    let head = "POST /a HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
    for (text, want) in Self.streams + Self.chunks.map({ (head + $0, "POST /a " + $1) }) {
      let bytes = Array(text.utf8)
      #expect(read([bytes]) == want, "\(text)")
      #expect(read(bytes.map { [$0] }) == want, "\(text)")
      for cut in bytes.indices {
        #expect(read([Array(bytes[..<cut]), Array(bytes[cut...])]) == want, "\(text) at \(cut)")
      }
    }
  }

  @Test("What is too long is refused with the first byte too much")
  func limits() {
    let line = "GET / HTTP/1.1\r\n\(Self.host)"
    let rest = RequestHead.sizeLimit - line.utf8.count
    let field = "X: " + String(repeating: "y", count: rest - 7)
    #expect(read([Array((line + field + "\r\n\r\n").utf8)]) == "GET / [] ")
    #expect(read([Array((line + field + "z\r\n\r\n").utf8)]) == "headTooLarge")
    let endless = Array((line + field + "zzzzz").utf8)
    #expect(read([endless]) == "headTooLarge")
    #expect(read([Array(endless.dropLast())]) == "...")
    // Empty lines count, too; a new request has all the room again.
    #expect(read([[UInt8](repeating: 13, count: 1) + [10]]) == "")
    let empty = Array(String(repeating: "\r\n", count: RequestHead.sizeLimit / 2 + 1).utf8)
    #expect(read([empty]) == "headTooLarge")
    let request = Array((line + field + "\r\n\r\n").utf8)
    #expect(read([request, request]) == "GET / [] GET / [] ")
  }

  @Test("Chunks may be many; what they say beside their sizes may not be much")
  func chunkOverhead() {
    let head = "POST / HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
    let many = String(repeating: "1\r\nx\r\n", count: 40_000)
    let body = String(repeating: "x", count: 40_000)
    #expect(read([Array((head + many + "0\r\n\r\n").utf8)]) == "POST / [\(body)] ")
    let wordy = String(repeating: "1;abcdefgh\r\nx\r\n", count: 10_000)
    #expect(read([Array((head + wordy + "0\r\n\r\n").utf8)]) == "POST / headTooLarge")
    let trailers = String(repeating: "X: y\r\n", count: 20_000)
    #expect(read([Array((head + "0\r\n" + trailers).utf8)]) == "POST / headTooLarge")
  }

  @Test("Rubbish never ends the process, nor is it read differently when it is cut")
  func rubbish() {
    var generator = SystemRandomNumberGenerator()
    let words = [
      "GET ", "/a", " HTTP/1.1", "\r\n", "\r", "\n", "Host: x\r\n", "Content-Length: 3\r\n",
      "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n", ";", ":", " ",
      "\t",
      "\u{0}", "ÿ", "POST / HTTP/1.0\r\n",
    ]
    for _ in 0..<3000 {
      let count = Int.random(in: 1...12, using: &generator)
      let bytes = (0..<count).flatMap { _ in Array(words.randomElement(using: &generator)!.utf8) }
      let whole = read([bytes])
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = rest.prefix(Int.random(in: 1...5, using: &generator))
        pieces.append(Array(piece))
        rest = rest.dropFirst(piece.count)
      }
      #expect(read(pieces) == whole, "\(String(decoding: bytes, as: UTF8.self).debugDescription)")
    }
  }
}
