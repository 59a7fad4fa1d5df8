import CLibc
import Core
import Testing

@testable import agent_serve

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

@Suite("A port", .onPoller)
struct PortTests {
  /// Answers `/stream` with one long stream, which comes from no hub, `/long` with three
  /// megabytes, `/held` when its client has gone, and the rest at once.
  private struct Service: RequestService {
    var serving = Serving(
      connections: Connections(descriptors: 256, diagnostics: Diagnostics(program: "test")),
      requests: Budget(), backlogLimit: 1 << 26, diagnostics: Diagnostics(program: "test"),
      workers: Poller.executor)
    let ended = Guarded<[String]>([])

    func refusal(of head: RequestHead) -> WholeAnswer? {
      head.path == "/closed" ? .unauthorized : nil
    }

    func bodyPlan(_ head: RequestHead) -> BodyPlan {
      BodyPlan(keeps: true, limit: 100_000, isHeld: head.path == "/held")
    }

    func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
      switch (head.path, body) {
      case (_, .tooLarge): return .whole(.tooLarge)
      case ("/stream", _):
        return .stream(LongStream(ended: ended))
      case ("/long", _):
        return .whole(.json([UInt8](repeating: 120, count: 3_000_000)))
      case ("/held", _):
        try? await Poller.sleep(for: .seconds(60))
        ended.withLock { $0.append("held") }
        return .whole(.json("{}"))
      case (_, .whole(let bytes)): return .whole(.json(bytes))
      }
    }
  }

  private final class LongStream: EventSource {
    let ended: Guarded<[String]>

    init(ended: Guarded<[String]>) { self.ended = ended }

    func send(to client: EventSink) async throws {
      defer { ended.withLock { $0.append("stream") } }
      try await client.begin()
      try await client.send([Block([UInt8](repeating: 120, count: 1 << 24))])
    }
  }

  /// Runs something against a port, whose connections are all gone afterwards.
  @Poller
  private func with(
    _ service: Service, _ body: (UInt16) async throws -> Void
  ) async throws {
    let listener = try Listener(ListenAddress(loopback: 0), service)
    try await body(listener.port)
    listener.close()
    #expect(await becomes { service.serving.connections.count == 0 })
    #expect(service.serving.requests.count == 0)
  }

  /// Looks until something is so, ten seconds at most.
  @Poller
  private func becomes(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if condition() { return true }
      try? await Poller.sleep(for: .milliseconds(5))
    }
    return condition()
  }

  private static let host = "Host: localhost\r\n\r\n"
  private static let get = "GET / HTTP/1.1\r\n\(host)"

  /// The statuses in what came.
  private func statuses(_ text: String) -> [String] {
    text.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
  }

  @Test("Who takes nothing of a stream for its time is cut off, wherever it comes from")
  @Poller
  func stuck() async throws {
    var service = Service()
    service.serving.patience.piece = .milliseconds(300)
    try await with(service) { port in
      let client = try RawClient(port, receiveBuffer: 4096)
      let start = ContinuousClock.now
      client.say("GET /stream HTTP/1.1\r\n\(Self.host)")
      #expect(await becomes { service.ended.withLock { $0 == ["stream"] } })
      #expect(.now - start >= .milliseconds(300))
      withExtendedLifetime(client) {}
    }
  }

  @Test("An answer that is held ends with its client, also behind bytes of another request")
  @Poller
  func held() async throws {
    let service = Service()
    try await with(service) { port in
      let client = try RawClient(port)
      client.say("GET /held HTTP/1.1\r\n\(Self.host)\(Self.get)")
      try await Poller.sleep(for: .milliseconds(50))
      #expect(service.ended.withLock { $0.isEmpty })
      client.finish()
      #expect(await becomes { service.ended.withLock { $0 == ["held"] } })
    }
  }

  @Test("Each good request is answered, in order, then the bad one, then the end")
  @Poller
  func goodAndBad() async throws {
    try await with(Service()) { port in
      let client = try RawClient(port)
      let good = (0..<200).map {
        "POST / HTTP/1.1\r\nContent-Length: 4\r\n\(Self.host)\(1000 + $0)"
      }
      let all = good.joined() + "GET / HTTP/1.1\r\nX : y\r\n\(Self.host)" + Self.get
      let (text, ends) = try await elsewhere {
        client.say(all)
        return client.hearAll()
      }
      #expect(statuses(text) == [String](repeating: "200", count: 200) + ["400"])
      let bodies = text.split(separator: "HTTP/1.1 ").prefix(200).map { $0.suffix(4) }
      #expect(bodies == (1000..<1200).map { "\($0)" })
      #expect(ends)
    }
  }

  @Test(
    "Who reads slowly gets the whole of a last answer, whatever it sent behind its request",
    arguments: ["\r\n", "GET / HTTP/1.1\r\n\(host)", ""])
  @Poller
  func lastAnswer(_ more: String) async throws {
    try await with(Service()) { port in
      let client = try RawClient(port, receiveBuffer: 65536)
      client.say("GET /long HTTP/1.1\r\nConnection: close\r\n\(Self.host)\(more)")
      let count = try await elsewhere { () -> Int in
        var count = 0
        while let bytes = client.hear() {
          if bytes.isEmpty { return count }
          count += bytes.count
          if count < 500_000 { client.say(more) }
          usleep(1000)
        }
        return -count
      }
      #expect(count > 3_000_000)
    }
  }

  @Test("Who sends requests without end leaves others their turn")
  @Poller
  func crowd() async throws {
    try await with(Service()) { port in
      let greedy = try RawClient(port)
      let many = String(repeating: Self.get, count: 500)
      let isOver = Guarded(false)
      let writing = Poller.start(throwing: {
        try await elsewhere { while !isOver.withLock({ $0 }) { greedy.say(many) } }
      })
      let reading = Poller.start(throwing: {
        try await elsewhere { while let bytes = greedy.hear(1 << 20), !bytes.isEmpty {} }
      })
      try await Poller.sleep(for: .milliseconds(100))
      var longest = Duration.zero
      for _ in 0..<20 {
        let (status, wait) = try await elsewhere {
          let start = ContinuousClock.now
          let client = try RawClient(port)
          client.say(Self.get)
          return (client.hear()?.starts(with: "HTTP/1.1 200".utf8) ?? false, .now - start)
        }
        #expect(status)
        longest = max(longest, wait)
      }
      #expect(longest < .seconds(5))
      isOver.withLock { $0 = true }
      try await writing.value
      greedy.finish()
      try await reading.value
    }
  }

  @Test("What will be refused is refused before the client is asked for it")
  @Poller
  func expectations() async throws {
    try await with(Service()) { port in
      func ask(_ path: String, _ length: Int, _ want: [String]) async throws {
        let client = try RawClient(port)
        client.say("POST \(path) HTTP/1.1\r\nExpect: 100-continue\r\n")
        client.say("Content-Length: \(length)\r\n\(Self.host)")
        let first = try await elsewhere { String(decoding: client.hear() ?? [], as: UTF8.self) }
        #expect(statuses(first) == want)
      }
      try await ask("/", 3, ["100"])
      try await ask("/closed", 3, ["401"])
      try await ask("/", 200_000, ["413"])
    }
  }

  @Test("A refusal of a HEAD has no content")
  @Poller
  func refusedHead() async throws {
    try await with(Service()) { port in
      for rest in [
        "Content-Length: 3\r\n\(Self.host)ab", "Transfer-Encoding: chunked\r\n\(Self.host)x\r\n",
      ] {
        let client = try RawClient(port)
        client.say("HEAD / HTTP/1.1\r\n\(rest)")
        client.finish()
        let (text, ends) = try await elsewhere { client.hearAll() }
        #expect(statuses(text) == ["400"])
        #expect(text.hasSuffix("\r\n\r\n"))
        #expect(ends)
      }
    }
  }

  @Test("Clients that are late are told so, those that never began are not")
  @Poller
  func late() async throws {
    var service = Service()
    service.serving.patience = Patience(
      head: .milliseconds(700), idle: .milliseconds(1500), bodyPause: .milliseconds(700),
      body: .seconds(3), piece: .seconds(5))
    try await with(service) { port in
      func answer(_ text: String, _ want: [String]) async throws {
        let client = try RawClient(port)
        client.say(text)
        let (text, ends) = try await elsewhere { client.hearAll() }
        #expect(ends)
        #expect(statuses(text) == want)
      }
      try await answer("", [])
      try await answer("\r\n", [])
      try await answer("GET /", ["408"])
      try await answer("GET / HTTP/1.1\r\nHost: x\r\n", ["408"])
      try await answer("POST / HTTP/1.1\r\nContent-Length: 9\r\n\(Self.host)abc", ["408"])
      let start = ContinuousClock.now
      try await answer(Self.get, ["200"])
      try await answer(Self.get + "\r\n", ["200"])
      #expect(.now - start >= .seconds(3))
      try await answer(Self.get + "GET ", ["200", "408"])
    }
  }

  @Test("Clients that come and go at random leave nothing behind")
  @Poller
  func coming() async throws {
    try await with(Service()) { port in
      let tasks = (0..<4).map { _ in
        Poller.start(throwing: {
          try await elsewhere {
            let texts = [
              "", "GET", Self.get, "GET /stream HTTP/1.1\r\n\(Self.host)",
              "GET /held HTTP/1.1\r\n\(Self.host)", "GET /long HTTP/1.1\r\n\(Self.host)",
              "POST / HTTP/1.1\r\nContent-Length: 9\r\n\(Self.host)abc", "\u{16}",
            ]
            for round in 0..<100 {
              let client = try RawClient(port)
              client.say(texts[round % texts.count])
              if round % 3 == 0, [2, 3, 5].contains(round % texts.count) { _ = client.hear(100) }
              if round % 5 == 0 { client.reset() }
              if round % 7 == 0 { client.finish() }
            }
          }
        })
      }
      for task in tasks { try await task.value }
    }
  }
}
