import Core
import FlyingSocks
import Foundation

/// Accepts connections and gives each a task of its own.
struct Listener: Sendable {
  /// The port that was got.
  let port: UInt16
  private let socket: AsyncSocket
  private let backend: ServedBackend

  /// Binds and listens.
  ///
  /// - Throws: `SocketError` when the address cannot be had.
  init(_ address: ListenAddress, _ backend: ServedBackend) async throws {
    let pool = SocketPool<Poll>.make(maxEvents: 64)
    try await pool.prepare()
    Task { try await pool.run() }
    let socket = try address.listen()
    switch try socket.sockname() {
    case .ip4(_, let port), .ip6(_, let port): self.port = port
    case .unix: port = address.port
    }
    self.socket = try AsyncSocket(socket: socket, pool: pool)
    self.backend = backend
  }

  /// Serves until the task is cancelled.
  func run() async {
    var quietUntil = ContinuousClock.now
    func complain(_ reason: String) {
      guard ContinuousClock.now >= quietUntil else { return }
      quietUntil = .now + .seconds(60)
      backend.diagnostics.error("accept", reason)
    }
    while !Task.isCancelled {
      do {
        let session = Session(backend: backend, socket: try await socket.accept())
        Task { await session.run() }
        guard backend.connections.areTooMany else { continue }
        complain("too many open files; the clients that are silent longest give way")
        while backend.connections.areTooMany && !Task.isCancelled {
          backend.connections.dropOldest()
          try? await Task.sleep(for: .milliseconds(20))
        }
      } catch {
        if Task.isCancelled { return }
        // No descriptor is left, or the client gave up: others may have more luck.
        complain(Server.reason(error))
        backend.connections.dropOldest(atLeast: 1)
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}
