import Foundation

/// What is done to a connection from outside of its own task: whether a silent
/// subscriber is still there, and ending one that does not read, or does not say
/// in time what it wants.
///
/// `release` must come before the socket is closed: after that its number may
/// belong to another connection.
final class Connection: @unchecked Sendable {
  private let lock = NSLock()
  private var descriptor: Int32?
  private var wait: ClientWait?
  private var overdue = false

  /// - Parameter descriptor: an open socket, which stays the caller's.
  init(descriptor: Int32) { self.descriptor = descriptor }

  /// Forgets the socket.
  func release() { lock.withLock { descriptor = nil } }

  /// Whether the peer closed or reset the connection.
  var isGone: Bool {
    with { socket in
      var byte: UInt8 = 0
      let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
      return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    } ?? false
  }

  /// Notes what is expected of the client from now on; nil when it is our turn.
  func expect(_ kind: ClientWait.Kind?) {
    lock.withLock { wait = kind.map { ClientWait($0, at: .now) } }
  }

  /// Notes that bytes came.
  func noteInput() {
    lock.withLock { wait?.noteInput(at: .now) }
  }

  /// Whether the client did not do in time what was expected of it.
  var isOverdue: Bool { lock.withLock { overdue } }

  /// Ends the wait for a client whose time is over: a request that was begun can
  /// still be answered.
  func beat(at now: ContinuousClock.Instant) {
    let kind = lock.withLock { () -> ClientWait.Kind? in
      guard let wait, wait.deadline <= now else { return nil }
      self.wait = nil
      overdue = true
      return wait.kind
    }
    guard let kind else { return }
    if kind == .room { abort() } else { _ = with { shutdown($0, Int32(SHUT_RD)) } }
  }

  /// Since when the client has kept us waiting; nil when it is our turn.
  var waitsSince: ContinuousClock.Instant? { lock.withLock { wait?.since } }

  /// Ends the connection in both directions; a blocked write of the server
  /// fails at once.
  func abort() {
    _ = with { shutdown($0, Int32(SHUT_RDWR)) }
  }

  /// Ends our side; the client can still send.
  func endOutput() {
    _ = with { shutdown($0, Int32(SHUT_WR)) }
  }

  /// Prepares a new connection: small answers leave at once.
  func prepare() {
    _ = with { Self.set($0, Int32(IPPROTO_TCP), TCP_NODELAY, 1) }
  }

  /// Prepares the socket for a stream: the kernel keeps little for a client
  /// that does not read, and asks after one that says nothing.
  func prepareForEvents() {
    _ = with { socket in
      Self.set(socket, SOL_SOCKET, SO_SNDBUF, 256 * 1024)
      Self.set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    }
  }

  private func with<T>(_ body: (Int32) -> T) -> T? {
    lock.withLock { descriptor.map(body) }
  }

  private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
