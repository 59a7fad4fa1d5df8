import Core
import Testing

@testable import Agent
@testable import Web

@Suite struct StreamVerdictTests {
  @Test func verdicts() throws {
    func judge(_ status: Int, _ headers: [Header] = []) throws -> StreamVerdict {
      var head = try #require(ResponseHead(statusLine: "HTTP/1.1 \(status) X"))
      head.headers = headers
      if let verdict = StreamVerdict.judge(head) { return verdict }
      let server = try AgentServer(
        base: try WebAddress("http://127.0.0.1/"),
        settings: try Settings(environment: { _ in nil }),
        profile: nil, tokenFile: nil, allowPlaintext: false,
        headers: [Header("X-Dashboard-Token", "s3cr3t")])
      let problem = try #require(server.problem(of: head, []))
      return StreamVerdict.judge(problem, head, now: 0)
    }
    func failed(_ line: String, _ status: Core.ExitStatus = .failure) -> StreamVerdict {
      .failed(Failure(line, status))
    }
    let refused = "the token from the command line was refused (no profile)"
    #expect(try judge(200, [Header("Content-Type", "text/event-stream")]) == .open)
    #expect(try judge(204) == .noContent)
    #expect(try judge(401) == failed("401 X: \(refused)", .denied))
    #expect(try judge(403) == failed("403 X: \(refused)", .denied))
    #expect(try judge(404) == failed("404 X: no such path"))
    #expect(try judge(409) == failed("409 X", .negative))
    for status in [205, 210, 299, 300, 304, 400, 410] {
      #expect(try judge(status) == failed("\(status) X"))
    }
    for status in [408, 425, 429, 500, 502, 503, 504, 530, 599] {
      #expect(try judge(status) == .retry("\(status) X", after: nil))
    }
    #expect(try judge(503, [Header("retry-after", "7")]) == .retry("503 X", after: 7))
    #expect(try judge(200) == failed("200 X: not an event stream: no content type"))
  }
}
