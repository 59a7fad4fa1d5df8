import Core
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import agent_serve

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

@Suite("A port")
struct PortTests {
  /// Answers each request with one long stream, which comes from no hub.
  private struct Service: RequestService {
    let connections = Connections(descriptors: 256)
    let tickets = Tickets()
    let backlogLimit = 1 << 26
    let diagnostics = Diagnostics(program: "test")
    let isFilled = NIOLockedValueBox(false)
    let isClosed = NIOLockedValueBox(false)

    func bodyPlan(_ head: RequestHead) -> BodyPlan { BodyPlan() }
    func stream(_ head: RequestHead) -> ServedStream? { nil }
    func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
      .stream(
        ServedStream(
          open: { _ in true },
          fill: { subscriber in
            _ = subscriber.offer([NIOCore.ByteBuffer(repeating: 120, count: 1 << 24)])
            subscriber.end(.finished)
            isFilled.withLockedValue { $0 = true }
          }, close: { _ in isClosed.withLockedValue { $0 = true } }))
    }
  }

  /// A client that asks for something and reads nothing of the answer.
  private func askAndStandStill(_ port: UInt16) throws -> FileHandle {
    let client = socket(AF_INET, numericCast(SOCK_STREAM.number), 0)
    var size: Int32 = 4096
    setsockopt(client, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
    let handle = FileHandle(fileDescriptor: client, closeOnDealloc: true)
    try handle.write(contentsOf: Data("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
    return handle
  }

  /// Looks until something is so, ten seconds at most.
  private func becomes(_ condition: () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < end {
      if condition() { return true }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
  }

  @Test("Who takes nothing of a stream for a minute is cut off, wherever it comes from")
  func stuck() async throws {
    let service = Service()
    let listener = try await Listener(ListenAddress(loopback: 0), service)
    let client = try askAndStandStill(listener.port)
    #expect(await becomes { service.isFilled.withLockedValue { $0 } })
    for _ in 0..<20 {
      service.connections.beat(at: .now + .seconds(55))
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(!service.isClosed.withLockedValue { $0 })
    #expect(
      await becomes {
        service.connections.beat(at: .now + .seconds(61))
        return service.isClosed.withLockedValue { $0 }
      })
    #expect(await becomes { service.tickets.count == 0 })
    try client.close()
    listener.close()
  }
}

#if canImport(Glibc)
  extension __socket_type {
    fileprivate var number: UInt32 { rawValue }
  }
#else
  extension Int32 {
    fileprivate var number: Int32 { self }
  }
#endif
