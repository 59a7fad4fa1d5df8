import CLibc
import Core

struct ListenAddress: Equatable, Sendable {
  /// Dotted, or IPv6 without brackets.
  let host: String
  /// 0 for a free one.
  let port: UInt16
  let isIPv6: Bool
  private let given: String

  /// Reads `HOST:PORT`: a name, an IPv4 address, or an IPv6 one in brackets.
  init(_ text: String) throws(UsageError) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { throw UsageError("--listen \(text): not HOST:PORT") }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    guard !host.isEmpty, let address = Self.resolve(host) else {
      throw UsageError("--listen \(text): no such host")
    }
    (self.host, isIPv6) = address
    given = host
    self.port = port
  }

  /// 127.0.0.1.
  init(loopback port: UInt16) {
    (host, isIPv6, given, self.port) = ("127.0.0.1", false, "127.0.0.1", port)
  }

  init(_ other: ListenAddress, port: UInt16) {
    (host, isIPv6, given, self.port) = (other.host, other.isIPv6, other.given, port)
  }

  /// Whether only this machine can reach it: 127.0.0.0/8 and ::1.
  var isLoopback: Bool { Self.isLoopback(host) }

  static func isLoopback(_ host: String) -> Bool {
    host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.")
  }

  var names: [Authority] {
    [Authority(host: host, isIPv6: isIPv6)]
      + (given.contains(":") ? [] : [Authority(host: given, isIPv6: false)])
  }

  /// `127.0.0.1:8787`, `[::1]:8787`.
  var text: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  func listen() throws(Failure) -> (descriptor: Int32, port: UInt16) {
    var port = port
    let descriptor = clibc_tcp_listen(host, &port)
    if descriptor < 0 { throw Failure(code: systemError) }
    return (descriptor, port)
  }

  /// Asks for the address and gives it back, to know that before anything is stored.
  func probe() throws(Failure) { close(try listen().descriptor) }

  #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
  #else
    private static let streamType = SOCK_STREAM
  #endif

  private static func resolve(_ host: String) -> (String, Bool)? {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE
    hints.ai_socktype = Self.streamType
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &list) == 0, let first = list else { return nil }
    defer { freeaddrinfo(list) }
    // A name has often both: IPv4 is what clients of a local server try.
    var entry = Optional(first)
    var chosen = first
    while let next = entry {
      if next.pointee.ai_family == AF_INET {
        chosen = next
        break
      }
      entry = next.pointee.ai_next
    }
    var text = [CChar](repeating: 0, count: 64)
    guard
      getnameinfo(
        chosen.pointee.ai_addr, chosen.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST) == 0
    else { return nil }
    let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return (name, chosen.pointee.ai_family == AF_INET6)
  }
}
