import Core
import FlyingFox
import FlyingSocks
import Foundation

/// Keeps the HTTP server listening.
struct Listener: Sendable {
  /// Where.
  let address: ListenAddress
  /// Answers.
  let backend: Backend
  /// Says when the server has to start over.
  let diagnostics: Diagnostics

  /// Listens, and goes on doing so.
  ///
  /// - Returns: the port.
  /// - Throws: `SocketError` when the address cannot be had.
  func start() async throws -> UInt16 {
    try address.probe()
    let server = try makeServer(address)
    let task = Task { try await server.run() }
    // The probe has answered what can go wrong; what is left is a race with
    // another process for the port.
    try await server.waitUntilListening(timeout: 5)
    Connection.disableDelays()
    var bound = address
    switch await server.listeningAddress {
    case .ip4(_, let port), .ip6(_, let port): bound = ListenAddress(address, port: port)
    default: break
    }
    let place = bound
    Task { await keep(task, at: place) }
    return bound.port
  }

  private func makeServer(_ address: ListenAddress) throws -> HTTPServer {
    var configuration = try address.configuration()
    configuration.logger = .disabled
    return HTTPServer(config: configuration, handler: backend)
  }

  /// One connection that cannot be accepted (no descriptor is left) ends the
  /// HTTP server with all its connections: start it again.
  private func keep(_ first: Task<Void, any Error>, at address: ListenAddress) async {
    var task = first
    while true {
      do {
        try await task.value
      } catch {
        diagnostics.error(address.text, "\(Server.reason(error)): listening again")
      }
      try? await Task.sleep(for: .milliseconds(200))
      task = Task {
        let server = try makeServer(address)
        Task {
          try await server.waitUntilListening(timeout: 5)
          Connection.disableDelays()
        }
        try await server.run()
      }
    }
  }
}
