import CLibc

/// What a client calls this server: a host, and a port where it names one
/// (RFC 3986, sections 3.2.2 and 3.2.3).
struct Authority: Hashable, Sendable {
  /// In lower case, without brackets and without the dot of the root.
  let host: String
  /// Nil when none is named.
  let port: UInt16?
  /// Whether `host` is an IPv6 address, in its shortest form.
  let isIPv6: Bool

  /// - Parameter text: `box`, `box:8787`, `127.0.0.1`, `[::1]:8787`; nil for
  ///   anything that is not of that form, or names no host.
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
      if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        end = text[colon...]
      }
      if host.hasSuffix(".") { host = host.dropLast() }
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isPartOfName) else { return nil }
      (self.host, isIPv6) = (host.lowercased(), false)
    }
    if end.isEmpty || end == ":" {
      port = nil
    } else {
      let digits = end.dropFirst()
      guard end.hasPrefix(":"), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
        let number = UInt16(digits)
      else { return nil }
      port = number
    }
  }

  /// A host without a port.
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
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127"
      && numbers.allSatisfy { $0.utf8.allSatisfy { $0 &- 0x30 < 10 } && UInt8($0) != nil }
  }

  /// A letter, a digit, or one of the marks of a name (RFC 3986, reg-name).
  private static func isPartOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: "-._~%!$&'()*+,;=".utf8.contains(byte)
    }
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
struct ServedNames: Sendable {
  private let names: [Authority]

  /// - Parameter names: beside those of loopback; one without a port stands for
  ///   every port.
  init(_ names: [Authority]) { self.names = names }

  /// - Parameter authority: nil when the client named none, as no browser does.
  func contains(_ authority: Authority?) -> Bool {
    guard let authority, !authority.isLoopback else { return true }
    return names.contains { name in
      name.host == authority.host && name.isIPv6 == authority.isIPv6
        && (name.port == nil || name.port == authority.port)
    }
  }
}

/// The token that requests must carry.
struct AccessToken: Sendable {
  private let bytes: [UInt8]

  /// - Parameter text: the token; never empty.
  init(_ text: String) { bytes = Array(text.utf8) }

  /// Whether a header's value is the token, in a time that tells nothing of the
  /// place where they differ.
  func matches(_ given: String?) -> Bool {
    let given = Array((given ?? "").utf8)
    var difference = given.count ^ bytes.count
    for index in bytes.indices {
      difference |= Int(bytes[index] ^ (index < given.count ? given[index] : ~bytes[index]))
    }
    return difference == 0
  }
}
