import FlyingFox
import Foundation

/// The socket under a request.
///
/// The HTTP server keeps its sockets to itself, but three things need one: to
/// notice that a silent subscriber went away, to end one that does not read,
/// and to send 100 Continue. It is found by the peer's address, which no two
/// connections to one listening socket share.
///
/// `release` must come before the server closes the socket: after that the
/// number may belong to another connection.
final class Connection: @unchecked Sendable {
  private let lock = NSLock()
  private var descriptor: Int32?

  /// - Parameter request: a request whose connection is open.
  init(of request: HTTPRequest) {
    descriptor = request.remoteAddress.flatMap(Self.find)
  }

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

  /// Ends the connection in both directions; a blocked write of the server
  /// fails at once.
  func abort() {
    _ = with { shutdown($0, Int32(SHUT_RDWR)) }
  }

  /// Prepares the socket for a stream: the kernel keeps little for a client
  /// that does not read, and asks after one that says nothing.
  func prepareForEvents() {
    _ = with { socket in
      Self.set(socket, SOL_SOCKET, SO_SNDBUF, 256 * 1024)
      Self.set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
    }
  }

  /// Makes what this process accepts from now on send small pieces at once: the
  /// server writes head and body apart, and the second would wait some 40 ms
  /// for the client's delayed acknowledgement of the first.
  static func disableDelays() {
    for descriptor in 3..<Int32(256) {
      var isListening: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      if getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0,
        isListening != 0
      {
        // Accepted sockets inherit it, on Linux and on the BSDs.
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
      }
    }
  }

  /// Writes a few bytes that always fit.
  func send(_ text: String) {
    _ = with { socket in
      let bytes = Array(text.utf8)
      _ = Foundation.write(socket, bytes, bytes.count)
    }
  }

  private func with<T>(_ body: (Int32) -> T) -> T? {
    lock.withLock { descriptor.map(body) }
  }

  private static func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func find(_ peer: HTTPRequest.Address) -> Int32? {
    let (host, port): (String, UInt16)
    switch peer {
    case .ip4(let address, let number), .ip6(let address, let number):
      (host, port) = (address, number)
    case .unix: return nil
    }
    // Descriptors are given out lowest first: a short walk.
    for descriptor in 3..<Int32(clamping: min(sysconf(Int32(_SC_OPEN_MAX)), 1 << 16)) {
      if let address = PeerAddress(of: descriptor), address.port == port, address.host == host {
        return descriptor
      }
    }
    return nil
  }
}
