import Core
import Testing

@testable import Web

/// Addresses, headers, redirects and verdicts: what decides where a secret goes.
@Suite struct RequestTests {
  private static func request(_ url: String, method: String = "GET") throws -> Request {
    Request(
      try WebAddress(url), method: method, headers: [Header("Accept", "text/event-stream")],
      privateHeaders: [Header("x-dashboard-token", "s3cret"), Header("Cookie", "a=b")],
      body: method == "POST" ? [1] : nil)
  }

  @Test(arguments: [
    ("http://a/x", "/y", "http://a/y"), ("http://a/x/z", "y", "http://a/x/y"),
    ("http://a/x", "http://a:80/y", "http://a:80/y"), ("http://A/x", "//a/y", "http://a/y"),
    ("https://a/x", "https://a:443/", "https://a:443/"),
    ("http://a/x?k=1", "#part", "http://a/x?k=1"), ("http://a/x?k=1", "?l=2", "http://a/x?l=2"),
    ("http://a/b/c/d", "../e", "http://a/b/e"), ("http://a/x", "/sp ace", "http://a/sp%20ace"),
  ])
  func sameOriginKeepsSecrets(from: String, location: String, to: String) throws {
    let next = try Self.request(from).redirected(status: 302, to: location)
    #expect(next.address.text == to)
    #expect(next.privateHeaders.count == 2)
  }

  @Test(arguments: [
    ("http://a/", "http://b/"), ("http://a/", "https://a/"), ("https://a/", "http://a/"),
    ("http://a/", "http://a:81/"), ("http://a:81/", "http://a/"), ("http://a/", "//b/"),
    ("http://a/", "http://a.b/"), ("http://u:p@a/", "http://u:p@b/"),
  ])
  func otherOriginDropsSecrets(from: String, location: String) throws {
    let next = try Self.request(from).redirected(status: 307, to: location)
    #expect(next.privateHeaders.isEmpty)
    #expect(next.headers.map(\.name) == ["Accept"])
    #expect(next.address.user == nil)
    // And they do not come back on the way home.
    let home = try next.redirected(status: 307, to: from)
    #expect(home.privateHeaders.isEmpty)
  }

  @Test func userInformationStaysWithItsOrigin() throws {
    let first = try Self.request("http://me:pa%20ss@a/x")
    #expect(first.address.user == "me")
    #expect(first.address.password == "pa ss")
    #expect(!first.address.text.contains("me"))
    #expect(!first.address.display.contains("pa"))
    #expect(try first.redirected(status: 301, to: "/y").address.password == "pa ss")
    #expect(try first.redirected(status: 301, to: "http://x:y@b/").address.user == nil)
  }

  @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
  func methodsAfterRedirects(status: Int, method: String) throws {
    let next = try Self.request("http://a/", method: "POST").redirected(status: status, to: "/b")
    #expect(next.method == method)
    #expect((next.body == nil) == (method == "GET"))
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://a/", "gopher://a", "http://", "javascript:alert(1)",
  ])
  func redirectsElsewhereAreRefused(location: String) throws {
    let request = try Self.request("http://a/")
    #expect(throws: Failure.self) { try request.redirected(status: 302, to: location) }
  }

  @Test(arguments: [
    "", "a", "ftp://a/", "http://", "http://a b/", "http://a:99999/", "http://a/\nx",
  ])
  func badAddresses(text: String) {
    #expect(throws: Failure.self) { try WebAddress(text) }
  }

  @Test func displayHidesWhatMayBeSecret() throws {
    let address = try WebAddress("https://u:p@Example.org:8443/a/b?token=1#frag")
    #expect(address.display == "https://example.org:8443/a/b" || address.host == "example.org")
    #expect(!address.display.contains("token"))
    #expect(!address.display.contains("u:p"))
    #expect(address.port == 8443)
    #expect(try WebAddress("http://h/base/").appending("api/x").text == "http://h/base/api/x")
    #expect(try WebAddress("http://h").appending("api/x").text == "http://h/api/x")
  }

  @Test(arguments: [
    ("a: b", "a", "b"), ("A-b:c", "A-b", "c"), ("a:", "a", ""), ("a: \t b c \t", "a", "b c"),
    ("a: x:y", "a", "x:y"), ("a: é", "a", "é"),
  ])
  func headerLines(line: String, name: String, value: String) {
    #expect(Header(line: line) == Header(name, value))
  }

  @Test(arguments: ["", "a", ": b", "a b: c", "a: b\r\nc: d", "a: b\0", "a: \u{1b}[0m", "é: b"])
  func headerLinesThatAreNone(line: String) {
    #expect(Header(line: line) == nil)
  }

  @Test(arguments: [
    ("text/event-stream", true), ("TEXT/Event-Stream ; charset=utf-8", true),
    ("text/event-stream;", true), ("text/event-streams", false), ("text/html", false),
    ("text/event-stream, text/html", false), ("x text/event-stream", false), ("", false),
    ("text/html, text/event-stream", true), ("text/event-stream, */*", true),
    (#"text/event-stream; a=", text/html""#, true),
    (#"text/html; a="\", text/event-stream""#, false),
  ])
  func contentTypes(type: String, isStream: Bool) {
    var head = ResponseHead(statusLine: "HTTP/1.1 200 OK")!
    head.headers = [Header("content-TYPE", type)]
    #expect(head.isEventStream == isStream)
  }

  @Test func aFoldedLineGoesOnWithTheLastValue() {
    var head = ResponseHead(statusLine: "HTTP/1.1 200 OK")!
    for line in [" lost: 1", "Content-Type:", "\t text/event-stream", "Location: /a", " b: c", ""] {
      head.add(receivedLine: line)
    }
    #expect(
      head.headers == [Header("Content-Type", "text/event-stream"), Header("Location", "/a b: c")])
    #expect(head.isEventStream)
  }

  @Test func retryAfter() {
    let now = 1_000_000_000.0
    #expect(RetryAfter.seconds("120", now: now) == 120)
    #expect(RetryAfter.seconds(" 0 ", now: now) == 0)
    #expect(RetryAfter.seconds("Sun, 09 Sep 2001 01:46:50 GMT", now: now) == 10)
    #expect(RetryAfter.seconds("Sunday, 09-Sep-01 01:46:50 GMT", now: now) == 10)
    #expect(RetryAfter.seconds("Sun Sep  9 01:46:50 2001", now: now) == 10)
    #expect(RetryAfter.seconds("Sun, 09 Sep 2001 01:46:30 GMT", now: now) == 0)
    #expect(RetryAfter.seconds("99999999999999999999999999", now: now) == RetryAfter.limit)
    #expect(RetryAfter.seconds("soon", now: now) == nil)
    #expect(RetryAfter.seconds("-5", now: now) == nil)
  }
}
