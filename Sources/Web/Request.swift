public import Core

/// One header line of a request.
public struct Header: Sendable, Equatable {
  /// The name as it is sent.
  public let name: String
  /// The value; empty for a header that is to be sent without one.
  public let value: String

  /// - Parameters:
  ///   - name: a token of RFC 9110, section 5.6.2.
  ///   - value: without line ends.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Reads `Name: value` as a user wrote it.
  ///
  /// - Returns: nil when the name is not a token of RFC 9110, or when the value
  ///   holds a control character other than a tab, which could begin another header.
  public init?(line: String) {
    self.init(receivedLine: line)
    guard !name.isEmpty, line.utf8.starts(with: (name + ":").utf8),
      name.utf8.allSatisfy(Header.isTokenByte),
      value.utf8.allSatisfy({ $0 == 9 || ($0 >= 32 && $0 != 127) })
    else { return nil }
  }

  /// Whether this is the header of that name, in any case.
  public func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

  /// Whether it says what is wanted and holds no secret.
  var isPlain: Bool {
    let name = name.lowercased()
    return ["accept", "cache-control", "user-agent", "last-event-id"].contains(name)
      || name.hasPrefix("accept-") || name.hasPrefix("content-")
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}

/// What is asked of a server.
public struct Request: Sendable {
  /// Where.
  public var address: WebAddress
  /// `GET` unless a body or the user says otherwise.
  public var method: String
  /// Headers that any server may see: Accept, Cache-Control, Last-Event-ID.
  public var headers: [Header]
  /// Headers for the first origin alone: the user's own and the token.
  public var privateHeaders: [Header]
  /// The body, nil for none.
  public var body: [UInt8]?
  /// Whether proxies of the environment are passed by: a secret that may travel
  /// in clear text to its host alone must not meet one.
  public var isDirect = false
  /// Whether it does no harm when it arrives twice, though it is neither GET nor HEAD.
  /// libcurl sends again by itself when a connection that served before is closed under it.
  public var mayRepeat = false
  /// Whether redirects are followed; otherwise one is an answer as any other. For a request that
  /// must arrive once.
  public var followsRedirects = true
  /// Whether a redirect to another origin is refused: for a body that holds a secret, which
  /// would be sent there, too.
  public var staysAtOrigin = false
  /// Whether a redirect from https to http is refused: for a body that nobody on the way may read.
  public var staysEncrypted = false
  /// By what its server is believed to be itself; it stays with the origin.
  public var trust = ServerTrust.authorities
  /// Who has its token; nil for a request without one, or with one that cannot be replaced.
  public var token: HeldToken?
  /// More that no message may quote from the answer: what the address carries in its
  /// query, for one.
  public var unquotable: [String] = []

  /// - Parameters:
  ///   - headers: for any server on the way.
  ///   - privateHeaders: for the first origin alone.
  public init(
    _ address: WebAddress, method: String = "GET", headers: [Header] = [],
    privateHeaders: [Header] = [], body: [UInt8]? = nil
  ) {
    (self.address, self.method, self.headers) = (address, method, headers)
    (self.privateHeaders, self.body) = (privateHeaders, body)
  }

  /// Hides in a text what must not be quoted of an answer.
  public func hide(_ text: String) -> String { mask.hide(text) }

  /// What must not be quoted from the answer: the token, the user's own headers but
  /// for those that say what is wanted, the password of the URL.
  var mask: SecretMask {
    var secrets = unquotable
    for header in privateHeaders where !header.isPlain {
      // `Bearer`, the names of cookies and short words are not secret.
      let parts = header.value.split { " ;,".contains($0) }.map { part in
        part.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
      }
      secrets += ([header.value] + parts).filter { $0.utf8.count > 5 && $0 != "Bearer" }
    }
    if let password = address.password {
      secrets += [password, "\(address.user ?? ""):\(password)"]
    }
    return SecretMask(secrets)
  }

  func renewed(after head: ResponseHead) -> Request? {
    guard let token, [401, 403, 404].contains(head.status) else { return nil }
    var other = self
    return token.renew(&other, status: head.status) ? other : nil
  }

  /// The request that a redirect asks for (RFC 9110, section 15.4; the method
  /// rules of Fetch, "HTTP-redirect fetch"). Across origins the private headers and
  /// the credentials of the URL stay behind, for the rest of the way.
  ///
  /// - Parameters:
  ///   - status: 301, 302, 303, 307 or 308.
  ///   - location: the `Location` header's value.
  /// - Throws: `Failure` when the location is not an http or https URL.
  public func redirected(status: Int, to location: String) throws(Failure) -> Request {
    let target = try address.resolving(location)
    if staysEncrypted, address.scheme == "https", target.scheme == "http" {
      throw Failure("from https to http")
    }
    var next = self
    if target.origin == address.origin {
      next.address = target.withCredentials(of: address)
    } else if staysAtOrigin {
      throw Failure("to another server")
    } else {
      next.address = target.withoutCredentials
      next.privateHeaders = []
      next.token = nil
      next.trust = .authorities
      next.isDirect = false
    }
    let becomesGet =
      (status == 303 && method != "HEAD") || (method == "POST" && (status == 301 || status == 302))
    if becomesGet {
      next.method = "GET"
      next.body = nil
      for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Length"] {
        next.headers.removeAll { $0.isNamed(name) }
        next.privateHeaders.removeAll { $0.isNamed(name) }
      }
    }
    return next
  }
}
