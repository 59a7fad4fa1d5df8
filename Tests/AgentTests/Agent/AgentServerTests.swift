import CLibc
import Core
import Testing

@testable import Agent
@testable import Web

/// Where the token goes, and what the server's errors become.
@Suite struct AgentServerTests {
  /// A configuration folder of its own, removed with it.
  final class Home {
    let path: String

    init(config: String = "", token: String? = "s3cr3t") {
      var name = Array("/tmp/agentutils-backend.XXXXXX".utf8CString)
      mkdtemp(&name)
      path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      mkdir(path + "/agentutils", 0o700)
      write("config", config)
      if let token { write("token", token) }
    }

    func write(_ name: String, _ text: String) {
      guard let file = fopen("\(path)/agentutils/\(name)", "w") else { return }
      fputs(text, file)
      fclose(file)
      chmod("\(path)/agentutils/\(name)", 0o600)
    }

    func settings(_ environment: [String: String]) throws -> Settings {
      let path = path
      return try Settings(environment: {
        environment[$0] ?? ["XDG_CONFIG_HOME": path, "HOME": path][$0]
      })
    }

    deinit {
      for name in ["config", "token"] { unlink("\(path)/agentutils/\(name)") }
      rmdir(path + "/agentutils")
      rmdir(path)
    }
  }

  private func backend(
    _ home: Home = Home(), url: String? = "http://127.0.0.1:8787", profile: String? = nil,
    allowPlaintext: Bool = false
  ) throws -> AgentServer {
    let environment = url.map { ["AGENT_URL": $0] } ?? [:]
    let settings = try home.settings(environment)
    return try AgentServer(
      settings.profile(profile), settings: settings, tokenFile: nil,
      allowPlaintext: allowPlaintext)
  }

  private func token(_ request: Request) -> [String] {
    request.privateHeaders.filter { $0.isNamed("x-dashboard-token") }.map(\.value)
  }

  @Test(arguments: [
    ("http://a.ts.net", "api/health", "http://a.ts.net/api/health"),
    ("http://127.0.0.1:8787/", "/api/health", "http://127.0.0.1:8787/api/health"),
    ("https://a/base", "api/actions?limit=2", "https://a/base/api/actions?limit=2"),
    ("https://a/base/?x=1", "/a b", "https://a/base/a%20b"),
    ("https://a", "//b/c", "https://a//b/c"),
    ("https://a", "@b/c", "https://a/@b/c"),
    ("https://a", "http://b/c", "https://a/http://b/c"),
  ])
  func pathsStayOnTheBackend(base: String, path: String, whole: String) throws {
    let request = try backend(url: base).request(path)
    #expect(request.address.text == whole)
    #expect(token(request) == ["s3cr3t"])
    #expect(request.method == "GET")
    #expect(request.headers == [Header("Accept", "application/json")])
  }

  @Test func aBodyIsJSON() throws {
    let request = try backend().request("api/voice/join", method: "POST", body: Array("{}".utf8))
    #expect(request.method == "POST")
    #expect(request.body == Array("{}".utf8))
    #expect(request.headers.contains(Header("Content-Type", "application/json")))
  }

  @Test func controlsMakeNoPath() throws {
    let backend = try backend()
    #expect(throws: Failure("path", "control character in url")) {
      try backend.request("a\r\nHost: b")
    }
  }

  @Test func withoutURLThereIsNoBackend() {
    #expect(
      throws: Failure("no url", "run agent-setup, or set AGENT_URL; see agentutils.conf(5)")
    ) {
      try backend(url: nil)
    }
    #expect(throws: Failure.self) { try backend(url: "ftp://a") }
    #expect(throws: Failure.self) { try backend(profile: "none") }
  }

  @Test func plainHTTPTakesNoToken() throws {
    #expect(throws: Failure.self) { try backend(url: "http://a.example") }
    #expect(try backend(url: "http://a.example", allowPlaintext: true).secret != nil)
    #expect(try backend(Home(token: nil), url: "http://a.example").secret == nil)
    #expect(try backend().request("x").isDirect)
    #expect(try !backend(url: "https://a").request("x").isDirect)
    #expect(try !backend(allowPlaintext: true).request("x").isDirect)
  }

  @Test func otherOriginsGetNoToken() throws {
    let backend = try backend()
    var other = Request(try WebAddress("http://127.0.0.1:8788/"))
    backend.authorize(&other)
    #expect(other.privateHeaders.isEmpty)
    var same = Request(
      try WebAddress("http://127.0.0.1:8787/x"),
      privateHeaders: [Header("X-Dashboard-Token", "old")])
    backend.authorize(&same)
    #expect(same.privateHeaders == [Header("x-dashboard-token", "s3cr3t")])
  }

  @Test func otherKindsTakeABearer() throws {
    let config = "[profile claw]\nkind = openclaw\nurl = https://claw\n"
    let server = try backend(Home(config: config), url: nil)
    #expect(try server.request("x").privateHeaders == [Header("Authorization", "Bearer s3cr3t")])
    var head = try #require(ResponseHead(statusLine: "HTTP/1.1 404 X"))
    head.headers = [Header("Content-Type", "application/json")]
    #expect(
      server.problem(of: head, Array(#"{"error":"Not found."}"#.utf8))
        == Failure("404 X: Not found.", .failure))
  }

  // MARK: - Answers that are errors

  private func problem(
    _ status: String, _ type: String?, _ body: String, method: String = "GET",
    url: String = "http://127.0.0.1:8787", token: String? = "s3cr3t"
  ) throws -> Failure? {
    var head = try #require(
      ResponseHead(statusLine: "HTTP/1.1 \(status)", headers: type.map { [("Content-Type", $0)] }))
    let backend = try backend(Home(token: token), url: url)
    head.mask = try backend.request("x").mask
    return backend.problem(
      of: head, Array(body.utf8), method: method)
  }

  @Test(arguments: [
    (
      "500 Internal Server Error", #"{"error":"no such table"}"#, Core.ExitStatus.temporary,
      "500 Internal Server Error: no such table"
    ),
    (
      "400 Bad Request", #"{"ok":false,"error":"guildId required"}"#, .failure,
      "400 Bad Request: guildId required"
    ),
    (
      "503 Service Unavailable", #"{"ok":false,"reason":"voice_join_unavailable"}"#, .temporary,
      "503 Service Unavailable: voice_join_unavailable"
    ),
    (
      "429 Too Many Requests", #"{"accepted":false,"reason":"ingest_rate_limited"}"#, .temporary,
      "429 Too Many Requests: ingest_rate_limited"
    ),
    (
      "404 Not Found", #"{"ok":false,"error":"not_found"}"#, .negative,
      "404 Not Found: not_found"
    ),
    ("409 Conflict", #"{"ok":false,"error":"duplicate"}"#, .negative, "409 Conflict: duplicate"),
    (
      "413 Content Too Large", #"{"error":"payload_too_large"}"#, .failure,
      "413 Content Too Large: the body is too large for the backend"
    ),
    (
      "400 Bad Request", #"{"error":{"message":"deep","code":7}}"#, .failure,
      "400 Bad Request: deep"
    ),
    ("400 Bad Request", #"{"error":{"code":7}}"#, .failure, #"400 Bad Request: {"code":7}"#),
    ("400 Bad Request", "[]", .failure, "400 Bad Request"),
    ("400 Bad Request", "{\"error\":", .failure, "400 Bad Request: {\"error\":"),
    ("500", "", .temporary, "500"),
    ("304 Not Modified", "", .failure, "304 Not Modified"),
    ("502 Bad Gateway", #"{"error":"upstream"}"#, .temporary, "502 Bad Gateway: upstream"),
  ])
  func theWordsOfJSON(status: String, body: String, exit: Core.ExitStatus, line: String) throws {
    #expect(try problem(status, "application/json", body) == Failure(line, exit))
  }

  @Test func plainTextAndPages() throws {
    #expect(
      try problem("404 Not Found", "text/plain", "Not found.")
        == Failure("404 Not Found: no such path", .failure))
    for status in ["502 Bad Gateway", "504 Gateway Timeout", "530"] {
      let page = "<!DOCTYPE html><html><title>x</title>"
      let found = try #require(try problem(status, "text/html; charset=UTF-8", page))
      #expect(found.status == .temporary)
      #expect(found.message.hasPrefix("\(status): the tunnel's page"))
      #expect(!found.message.contains("<"))
      #expect(try problem(status, nil, "\n \(page)") == found)
    }
    #expect(
      try problem("400 Bad Request", "text/html", "<b>no</b>")
        == Failure("400 Bad Request: a page, not the backend's answer", .failure))
    #expect(
      try problem("403 Forbidden", "text/html", "<b>no</b>")
        == Failure("403 Forbidden: a page, not the backend's answer", .denied))
    #expect(try problem("200 OK", "application/json", "{}") == nil)
    #expect(try problem("204", nil, "") == nil)
  }

  @Test func credentialsAreNamedNeverShown() throws {
    let body = #"{"error":"Unauthorized. s3cr3t"}"#
    let refused = try #require(try problem("401 Unauthorized", "application/json", body))
    #expect(refused.status == .denied)
    #expect(refused.message.hasPrefix("401 Unauthorized: the token from /tmp/agentutils-backend."))
    #expect(refused.message.hasSuffix("/agentutils/token was refused (no profile)"))
    #expect(
      try problem("401 Unauthorized", "application/json", body, token: nil)
        == Failure(
          "401 Unauthorized: no token was sent (no profile); see agentutils.conf(5)", .denied))
    let echoed = try problem("500", "application/json", body)
    #expect(echoed == Failure("500: Unauthorized. (secret)", .temporary))
    let phrase = try problem("500 no s3cr3t", "application/json", "{}")
    #expect(phrase == Failure("500 no (secret)", .temporary))
  }

  @Test func theTunnelHidesARefusal() throws {
    let body = #"{"error":"Not found."}"#
    let hidden = try #require(
      try problem("404 Not Found", "application/json", body, url: "https://a"))
    #expect(hidden.status == .denied)
    #expect(hidden.message.contains("a tunnel answers so when the token from "))
    // Another verb than GET on a path that is not there answers the same.
    let local = try problem("404 Not Found", "application/json", body, method: "POST")
    #expect(local == Failure("404 Not Found: no such path", .failure))
    let far = try problem(
      "404 Not Found", "application/json", body, method: "POST", url: "https://a")
    #expect(far?.status == .denied)
  }

  @Test func anOpenTunnelWithoutToken() throws {
    let found = try problem(
      "503 Service Unavailable", "application/json",
      #"{"error":"dashboard_token_required_when_public_https_enabled"}"#)
    #expect(found?.status == .denied)
  }

  @Test func theProfileAndItsCommandAreNamed() throws {
    let home = Home(
      config: """
        [profile home]
        url = http://127.0.0.1:1
        token-command = echo s3cr3t

        """, token: nil)
    let backend = try backend(home, url: nil)
    #expect(backend.profile?.name == "home")
    #expect(
      backend.refusal
        == "the token from token-command of profile home was refused (profile home)")
  }

  @Test func aHugeReasonIsCut() throws {
    let body = "{\"error\":\"" + String(repeating: "x", count: 1_000_000) + "\"}"
    let found = try #require(try problem("400 Bad Request", "application/json", body))
    #expect(found.message.count < 400)
  }
}

extension ResponseHead {
  fileprivate init?(statusLine: String, headers: [(String, String)]?) {
    self.init(statusLine: statusLine)
    self.headers = (headers ?? []).map { Header($0.0, $0.1) }
  }
}
