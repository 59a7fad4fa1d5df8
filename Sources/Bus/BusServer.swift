public import Core

/// One server of a bus, by its URL: `nats://HOST[:PORT]`, `tls://HOST[:PORT]`, or without the
/// scheme, which is the first of these.
public struct BusServer: Hashable, Sendable {
  /// A name or an address, an IPv6 address without its brackets.
  public let host: String
  /// 1 to 65535.
  public let port: Int
  /// Whether TLS is spoken, and the certificate verified.
  public let isTLS: Bool

  /// The port where none is named.
  public static let usualPort = 4222

  /// This machine.
  public static let local = BusServer(host: "127.0.0.1", port: usualPort, isTLS: false)

  private init(host: String, port: Int, isTLS: Bool) {
    (self.host, self.port, self.isTLS) = (host, port, isTLS)
  }

  /// - Parameter text: as a person writes it.
  /// - Throws: a `Failure`; a user or a password in it is one, for others see command lines.
  public init(_ text: String) throws(Failure) {
    var rest = text[...]
    var isTLS = false
    if let end = text.place(of: "://") {
      switch text[..<end.lowerBound].lowercased() {
      case "nats": break
      case "tls": isTLS = true
      default: throw Failure("neither nats:// nor tls://")
      }
      rest = text[end.upperBound...]
    }
    if rest.holds("@") {
      throw Failure("a user or a token in a URL can be seen by others: see [bus NAME]")
    }
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    var host = rest
    var port: Int? = Self.usualPort
    if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
      host = rest[rest.index(after: rest.startIndex)..<end]
      let behind = rest[rest.index(after: end)...]
      if !behind.isEmpty { port = behind.hasPrefix(":") ? Self.number(behind.dropFirst()) : nil }
    } else if let colon = rest.lastIndex(of: ":") {
      host = rest[..<colon]
      port = Self.number(rest[rest.index(after: colon)...])
      if host.holds(":") { throw Failure("an IPv6 address needs brackets") }
    }
    guard let port else { throw Failure("the port is not a number from 1 to 65535") }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0.isAlphanumeric || ".-_:".utf8.contains($0) })
    else {
      throw Failure("not the name of a host")
    }
    self.init(host: String(host).lowercased(), port: port, isTLS: isTLS)
  }

  /// The URL, without anything that it does not need.
  public var url: String {
    let host = host.holds(":") ? "[\(host)]" : host
    return "\(isTLS ? "tls" : "nats")://\(host):\(port)"
  }

  func speaking(tls: Bool) -> BusServer { BusServer(host: host, port: port, isTLS: tls) }

  private static func number(_ digits: Substring) -> Int? {
    guard digits.utf8.allSatisfy({ $0 &- 48 < 10 }), let port = UInt16(digits), port > 0 else {
      return nil
    }
    return Int(port)
  }
}
