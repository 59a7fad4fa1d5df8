import CLibc
import Core

/// What a client calls this server: a host, and a port where it names one
/// (RFC 3986, sections 3.2.2 and 3.2.3).
struct Authority: Hashable, Sendable {
  /// In lower case, without brackets and without the dot of the root.
  let host: String
  let port: UInt16?
  /// Whether `host` is an IPv6 address, in its shortest form.
  let isIPv6: Bool

  init?(_ text: String) {
    var host = Substring(text)
    var end: Substring = ""
    if text.hasPrefix("[") {
      guard let bracket = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<bracket]
      end = text[text.index(after: bracket)...]
      guard let address = Self.shortest(host) else { return nil }
      (self.host, isIPv6) = (address, true)
    } else {
      if let colon = text.utf8.firstIndex(of: 0x3a) {
        host = text[..<colon]
        end = text[colon...]
      }
      if host.utf8.last == 0x2e { host = Substring(host.utf8.dropLast()) }
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isPartOfName) else { return nil }
      let isLower = host.utf8.allSatisfy { $0 &- 0x41 >= 26 }
      (self.host, isIPv6) = (isLower ? String(host) : host.lowercased(), false)
    }
    if end.isEmpty || end == ":" {
      port = nil
    } else {
      let digits = Substring(end.utf8.dropFirst())
      guard end.utf8.first == 0x3a, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
        let number = UInt16(digits)
      else { return nil }
      port = number
    }
  }

  init(host: String, isIPv6: Bool) {
    self.host = isIPv6 ? Self.shortest(host[...]) ?? host : host.lowercased()
    self.isIPv6 = isIPv6
    port = nil
  }

  /// Whether it names this machine and no other: `localhost` and what ends in it
  /// (RFC 6761, section 6.3), 127.0.0.0/8, `[::1]`.
  var isLoopback: Bool {
    if isIPv6 { return host == "::1" }
    if host == "localhost" || host.hasSuffix(".localhost") { return true }
    var address = in_addr()
    return host.utf8.starts(with: "127.".utf8) && inet_pton(AF_INET, host, &address) == 1
  }

  /// A letter, a digit, or one of the marks of a name (RFC 3986, reg-name).
  private static func isPartOfName(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "-._~%!$&'()*+,;=".utf8.contains(byte)
  }

  private static func shortest(_ address: Substring) -> String? {
    var bytes = in6_addr()
    guard inet_pton(AF_INET6, String(address), &bytes) == 1 else { return nil }
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// The names under which a server answers.
///
/// A page that a browser shows can make its own name point to this machine (DNS
/// rebinding) and then read what it asks for: the browser takes the two for one
/// site. It cannot keep that name out of what the browser asks.
extension [Authority] {
  func serve(_ authority: Authority?) -> Bool {
    guard let authority, !authority.isLoopback else { return true }
    return contains { name in
      name.host == authority.host && name.isIPv6 == authority.isIPv6
        && (name.port == nil || name.port == authority.port)
    }
  }
}

struct AccessToken: Sendable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// Compares in a time that tells nothing of the place where the two differ.
  func matches(_ given: String?) -> Bool {
    let given = Array((given ?? "").utf8)
    var difference = given.count ^ bytes.count
    for index in bytes.indices {
      difference |= Int(bytes[index] ^ (index < given.count ? given[index] : ~bytes[index]))
    }
    return difference == 0
  }
}

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
