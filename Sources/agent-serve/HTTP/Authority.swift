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
