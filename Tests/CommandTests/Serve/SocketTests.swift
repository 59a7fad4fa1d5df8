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

/// A client's end of a connection, which blocks for ten seconds at most.
final class RawClient: Sendable {
  let descriptor: Int32

  init(_ port: UInt16, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, numericCast(SOCK_STREAM.number), 0)
    if let receiveBuffer { set(SO_RCVBUF, receiveBuffer) }
    var wait = timeval(tv_sec: 10, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &wait, socklen_t(MemoryLayout<timeval>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let descriptor = descriptor
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
  }

  deinit { Self.close(descriptor) }

  private static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Glibc)
      Glibc.close(descriptor)
    #else
      Musl.close(descriptor)
    #endif
  }

  private func set(_ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Sends all of a text; gives up silently where the other side has.
  func say(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  /// What comes next; empty at the end, nil when the connection is broken.
  func hear(_ size: Int = 65536) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    let count = recv(descriptor, &bytes, size, 0)
    return count < 0 ? nil : Array(bytes[..<count])
  }

  /// All that comes until the end, and whether it was one.
  func hearAll() -> (text: String, ends: Bool) {
    var all: [UInt8] = []
    while let bytes = hear() {
      if bytes.isEmpty { return (String(decoding: all, as: UTF8.self), true) }
      all += bytes
    }
    return (String(decoding: all, as: UTF8.self), false)
  }

  /// Sends nothing more.
  func finish() { shutdown(descriptor, Int32(SHUT_WR.number)) }

  /// Breaks the connection off.
  func reset() { clibc_tcp_reset(descriptor) }
}

#if canImport(Glibc)
  extension __socket_type {
    fileprivate var number: UInt32 { rawValue }
  }
  extension Int {
    fileprivate var number: Int { self }
  }
#else
  extension Int32 {
    fileprivate var number: Int32 { self }
  }
#endif

/// Runs what blocks on a thread of its own.
@discardableResult
func elsewhere<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { done in
    OwnThread.require { done.resume(with: Result { try body() }) }
  }
}

/// Resumes tests on the poller's thread alone: the others may be busy with tests that block.
struct OnPoller: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Poller.executor) { try await function() }
  }
}

extension Trait where Self == OnPoller {
  static var onPoller: Self { OnPoller() }
}

@Suite("The poller", .onPoller)
struct PollerTests {
  @Test("Alarms ring in the order of their times; those that were taken back do not")
  @Poller
  func alarms() async throws {
    var generator = SystemRandomNumberGenerator()
    var rung: [Int] = []
    let start = ContinuousClock.now
    var alarms: [Call] = []
    for _ in 0..<500 {
      let milliseconds = Int.random(in: 1...40, using: &generator)
      let alarm = Call { rung.append(milliseconds) }
      alarm.set(start + .seconds(50))
      alarm.set(start + .milliseconds(milliseconds))
      alarms.append(alarm)
    }
    for alarm in alarms.prefix(200) { alarm.set(nil) }
    try await Poller.sleep(for: .milliseconds(80))
    #expect(rung.count == 300)
    #expect(rung == rung.sorted())
  }

  @Test("A sleep lasts as long as it says, and ends when its task is cancelled")
  @Poller
  func sleep() async throws {
    let start = ContinuousClock.now
    try await Poller.sleep(for: .milliseconds(30))
    #expect(.now - start >= .milliseconds(30))
    let long = Poller.start(throwing: { try await Poller.sleep(for: .seconds(60)) })
    try await Poller.sleep(for: .milliseconds(5))
    long.cancel()
    await #expect(throws: CancellationError.self) { try await long.value }
    let late = Poller.start(throwing: {
      withUnsafeCurrentTask { $0?.cancel() }
      try await Poller.sleep(for: .seconds(60))
    })
    await #expect(throws: CancellationError.self) { try await late.value }
    #expect(.now - start < .seconds(20))
  }

  @Test("What is asked of it from many threads at once is done, each once")
  @Poller
  func manyThreads() async {
    let tasks = (0..<50).map { _ in
      Task.detached {
        var done = 0
        for _ in 0..<200 { done += await Task { @Poller in 1 }.value }
        return done
      }
    }
    var count = 0
    for task in tasks { count += await task.value }
    #expect(count == 10_000)
  }
}

@Suite("A socket", .onPoller)
struct SocketTests {
  private let listener: Socket
  private let port: UInt16

  @Poller
  init() throws {
    let (descriptor, port) = try ListenAddress(loopback: 0).listen()
    self.port = port
    listener = try Socket(descriptor)
  }

  /// A client, and our end of its connection.
  @Poller
  private func pair(receiveBuffer: Int32? = nil) async throws -> (RawClient, Socket) {
    let client = try RawClient(port, receiveBuffer: receiveBuffer)
    let socket = try await listener.accept()
    #expect(socket.address == "127.0.0.1")
    return (client, socket)
  }

  @Poller
  private func text(_ socket: Socket) -> String {
    socket.received.read { bytes, used in
      used = bytes.count
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test("What comes before somebody waits is not missed, nor is the end behind it")
  @Poller
  func readiness() async throws {
    let (client, socket) = try await pair()
    // Nothing is there: from now on the poller alone tells.
    await #expect(throws: Socket.Failure.late) {
      _ = try await socket.fill(until: .now + .milliseconds(20))
    }
    client.say("abc")
    client.finish()
    try await Poller.sleep(for: .milliseconds(50))
    #expect(try await socket.fill(until: .now + .seconds(5)))
    #expect(text(socket) == "abc")
    #expect(try await !socket.fill(until: .now + .seconds(5)))
    #expect(try await !socket.fill(until: .now + .seconds(5)))
    // It may still listen.
    try await socket.write(Array("def".utf8), pause: .seconds(5))
    #expect(try await elsewhere { client.hear() } == Array("def".utf8))
    socket.close()
    #expect(try await elsewhere { client.hear() } == [])
  }

  @Test("A number that is used again is told of again")
  @Poller
  func numbers() async throws {
    for round in 0..<100 {
      let (client, socket) = try await pair()
      await #expect(throws: Socket.Failure.late) {
        _ = try await socket.fill(until: .now + .milliseconds(1))
      }
      client.say("\(round)")
      #expect(try await socket.fill(until: .now + .seconds(5)))
      #expect(text(socket) == "\(round)")
      socket.close()
    }
  }

  @Test("A reset ends a wait")
  @Poller
  func reset() async throws {
    var (client, socket): (RawClient?, Socket) = try await pair()
    client?.reset()
    let fill = Poller.start(throwing: { try await socket.fill(until: .now + .seconds(5)) })
    await Task.yield()
    client = nil
    await #expect(throws: Socket.Failure.broken(code: ECONNRESET)) {
      _ = try await fill.value
    }
    socket.close()
  }

  @Test("Who leaves is seen, also behind bytes that nobody reads", arguments: [false, true])
  @Poller
  func left(isReset: Bool) async throws {
    var (client, socket): (RawClient?, Socket) = try await pair()
    var hasLeft = false
    socket.whenLeft = { hasLeft = true }
    client?.say("unread")
    try await Poller.sleep(for: .milliseconds(30))
    #expect(!hasLeft)
    if isReset { client?.reset() } else { client?.finish() }
    if isReset { client = nil }
    for _ in 0..<500 where !hasLeft { try await Poller.sleep(for: .milliseconds(10)) }
    #expect(hasLeft)
    socket.close()
    // And who had left before it was asked.
    let (early, other) = try await pair()
    early.finish()
    try await Poller.sleep(for: .milliseconds(30))
    var hadLeft = false
    other.whenLeft = { hadLeft = true }
    #expect(hadLeft)
    other.close()
    withExtendedLifetime((client, early)) {}
  }

  @Test("Its time is over also for who sends a little now and then")
  @Poller
  func drip() async throws {
    let (client, socket) = try await pair()
    let isOver = Guarded(false)
    let dripping = Poller.start(throwing: {
      try await elsewhere {
        while !isOver.withLock({ $0 }) {
          client.say("x")
          usleep(2000)
        }
      }
    })
    let start = ContinuousClock.now
    await #expect(throws: Socket.Failure.late) {
      while try await socket.fill(until: start + .milliseconds(100)) {}
    }
    #expect(.now - start < .seconds(5))
    isOver.withLock { $0 = true }
    try await dripping.value
    socket.close()
  }

  @Test("A limit ends all waits, whatever their own time")
  @Poller
  func limit() async throws {
    let (client, socket) = try await pair()
    let fill = Poller.start(throwing: { try await socket.fill(until: nil) })
    await Task.yield()
    socket.limit = .now + .milliseconds(20)
    await #expect(throws: Socket.Failure.late) { _ = try await fill.value }
    socket.close()
    withExtendedLifetime(client) {}
  }

  @Test("It can be broken off while one task reads and another writes")
  @Poller
  func abort() async throws {
    let (client, socket) = try await pair(receiveBuffer: 4096)
    let fill = Poller.start(throwing: { try await socket.fill(until: nil) })
    let write = Poller.start(throwing: {
      try await socket.write([UInt8](repeating: 1, count: 1 << 24), pause: nil)
    })
    try await Poller.sleep(for: .milliseconds(30))
    socket.abort()
    await #expect(throws: Socket.Failure.aborted) { _ = try await fill.value }
    await #expect(throws: Socket.Failure.aborted) { try await write.value }
    // The flag sticks.
    await #expect(throws: Socket.Failure.aborted) { _ = try await socket.fill(until: nil) }
    socket.close()
    withExtendedLifetime(client) {}
  }

  @Test("Who takes nothing is late; who takes a little has its time again for each piece")
  @Poller
  func pause() async throws {
    let (stuck, socket) = try await pair(receiveBuffer: 4096)
    await #expect(throws: Socket.Failure.late) {
      try await socket.write([UInt8](repeating: 1, count: 1 << 24), pause: .milliseconds(100))
    }
    socket.close()
    let (slow, other) = try await pair(receiveBuffer: 65536)
    let reading = Poller.start(throwing: {
      try await elsewhere {
        var count = 0
        while let bytes = slow.hear(), !bytes.isEmpty {
          count += bytes.count
          usleep(8000)
        }
        return count
      }
    })
    let start = ContinuousClock.now
    try await other.write([UInt8](repeating: 1, count: 1 << 24), pause: .seconds(1))
    #expect(.now - start > .seconds(1))
    other.close()
    #expect(try await reading.value == 1 << 24)
    withExtendedLifetime(stuck) {}
  }

  @Test("Who reads slowly gets all, though more came from it than anybody read")
  @Poller
  func linger() async throws {
    let (client, socket) = try await pair(receiveBuffer: 65536)
    client.say("\r\n")
    let reading = Poller.start(throwing: {
      try await elsewhere {
        var count = 0
        while let bytes = client.hear() {
          if bytes.isEmpty { return count }
          count += bytes.count
          if count < 100_000 { client.say("\r\n") }
          usleep(1000)
        }
        return -count
      }
    })
    try await socket.write([UInt8](repeating: 1, count: 3_000_000), pause: .seconds(5))
    try await socket.linger()
    socket.close()
    #expect(try await reading.value == 3_000_000)
  }

  #if os(Linux)
    @Test("A machine that answers nothing is given up after the time that is set")
    func watch() {
      let descriptor = socket(AF_INET, numericCast(SOCK_STREAM.number), 0)
      clibc_tcp_watch(descriptor, 60)
      func option(_ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, level, name, &value, &size)
        return value
      }
      // TCP_USER_TIMEOUT, which Glibc's module leaves out.
      #expect(option(Int32(IPPROTO_TCP), 18) == 60_000)
      #expect(option(SOL_SOCKET, SO_KEEPALIVE) == 1)
      _ = CLibc.close(descriptor)
    }
  #endif

  @Test("Bytes that were not used stay, in their order")
  @Poller
  func inbox() {
    var inbox = Inbox()
    var got: [UInt8] = []
    for round in 0..<100 {
      let more = [UInt8](repeating: UInt8(round), count: 7)
      more.withUnsafeBytes { inbox.append($0) }
      inbox.read { bytes, used in
        used = min(bytes.count, 5 + round % 5)
        got += bytes.prefix(used)
      }
    }
    inbox.read { bytes, used in
      used = bytes.count
      got += bytes
    }
    #expect(got == (0..<100).flatMap { [UInt8](repeating: UInt8($0), count: 7) })
    #expect(inbox.isEmpty)
  }
}
