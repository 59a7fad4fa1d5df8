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

  /// Prepares the socket for a stream of small events: each leaves at once, and
  /// the kernel keeps little for a client that does not read.
  func prepareForEvents() {
    _ = with { socket in
      set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
      set(socket, SOL_SOCKET, SO_SNDBUF, 256 * 1024)
      set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
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

  private func set(_ socket: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
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

/// The other end of a TCP connection.
struct PeerAddress: Equatable {
  /// The numeric address.
  let host: String
  /// The port.
  let port: UInt16

  /// - Parameter descriptor: any number; nil unless it is a connected socket.
  init?(of descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let found = withUnsafeMutableBytes(of: &storage) { bytes -> (port: UInt16, host: String)? in
      let address = bytes.assumingMemoryBound(to: sockaddr.self)
      guard let base = address.baseAddress, getpeername(descriptor, base, &length) == 0 else {
        return nil
      }
      var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
      switch Int32(base.pointee.sa_family) {
      case AF_INET:
        var value = bytes.load(as: sockaddr_in.self)
        inet_ntop(AF_INET, &value.sin_addr, &text, socklen_t(text.count))
        return (UInt16(bigEndian: value.sin_port), Self.string(text))
      case AF_INET6:
        var value = bytes.load(as: sockaddr_in6.self)
        inet_ntop(AF_INET6, &value.sin6_addr, &text, socklen_t(text.count))
        return (UInt16(bigEndian: value.sin6_port), Self.string(text))
      default: return nil
      }
    }
    guard let found else { return nil }
    (port, host) = found
  }

  private static func string(_ text: [CChar]) -> String {
    String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
