import CCurl
public import Core

/// An http or https URL, taken apart by libcurl's own parser (RFC 3986 with the
/// leniency of browsers), so that what is checked is what is asked.
public struct WebAddress: Sendable, Equatable {
  /// `http` or `https`.
  public let scheme: String
  /// The host in lower case; an IPv6 address in brackets.
  public let host: String
  /// The port, the scheme's own when none was given.
  public let port: Int
  /// The whole URL without user information and fragment.
  public let text: String
  /// The URL for messages: without user information, query and fragment,
  /// which may hold secrets.
  public let display: String
  /// User and password of the URL, percent-decoded.
  public private(set) var user: String?
  /// The password, nil when the URL has none.
  public private(set) var password: String?

  /// Reads an absolute URL.
  ///
  /// - Throws: `Failure` when it is malformed or of another scheme.
  public init(_ text: String) throws(Failure) {
    try self.init(parts: [text])
  }

  /// The address that a `Location` header means, seen from here
  /// (RFC 3986, section 5). User information is not carried along: credentials
  /// are the redirect rule's business.
  public func resolving(_ reference: String) throws(Failure) -> WebAddress {
    // A fragment alone means this very resource (RFC 3986, section 5.2.2).
    if reference.utf8.first == 35 { return withoutCredentials }
    return try WebAddress(parts: [text, reference])
  }

  /// An address on the same server.
  ///
  /// - Parameters:
  ///   - path: put behind the path of this address, without a slash in front.
  public func appending(_ path: String) throws(Failure) -> WebAddress {
    let bare = text.split(separator: "?", maxSplits: 1).first.map(String.init) ?? text
    let slash = bare.hasSuffix("/") ? "" : "/"
    return try WebAddress(bare + slash + path).withCredentials(of: self)
  }

  /// Scheme, host and port: what credentials are bound to (RFC 6454).
  public var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

  private init(parts: [String]) throws(Failure) {
    guard let url = curl_url() else { throw Failure("out of memory") }
    defer { curl_url_cleanup(url) }
    for part in parts {
      // A control byte would travel into the request line.
      if part.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        throw Failure("control character in url")
      }
      let code = curl_url_set(url, CURLUPART_URL, part, UInt32(CURLU_URLENCODE))
      if code == CURLUE_UNSUPPORTED_SCHEME { throw Failure("not an http or https url") }
      guard code == CURLUE_OK else {
        throw Failure(String(cString: curl_url_strerror(code)).lowercasedFirst)
      }
    }
    guard let scheme = Self.part(url, CURLUPART_SCHEME)?.lowercased(),
      scheme == "http" || scheme == "https"
    else { throw Failure("not an http or https url") }
    guard let host = Self.part(url, CURLUPART_HOST)?.lowercased(), !host.isEmpty else {
      throw Failure("no host in url")
    }
    let port = Self.part(url, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)).flatMap { Int($0) }
    self.scheme = scheme
    self.host = host
    self.port = port ?? (scheme == "https" ? 443 : 80)
    user = Self.part(url, CURLUPART_USER, UInt32(CURLU_URLDECODE))
    password = Self.part(url, CURLUPART_PASSWORD, UInt32(CURLU_URLDECODE))
    for part in [
      CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT,
    ] { curl_url_set(url, part, nil, 0) }
    text = Self.part(url, CURLUPART_URL) ?? ""
    curl_url_set(url, CURLUPART_QUERY, nil, 0)
    display = Self.part(url, CURLUPART_URL) ?? ""
  }

  private static func part(_ url: OpaquePointer, _ which: CURLUPart, _ flags: UInt32 = 0) -> String?
  {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(url, which, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}

/// Scheme, host and port of a URL (RFC 6454, section 4).
public struct Origin: Sendable, Hashable {
  /// `http` or `https`.
  public let scheme: String
  /// In lower case; an IPv6 address in brackets.
  public let host: String
  /// The port in use, also when it is the scheme's own.
  public let port: Int
}

extension WebAddress {
  /// The values in the query, which may be secrets; those of a few letters are not.
  public var queryValues: [String] {
    let query = text.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
    return query.split(separator: "&").compactMap { part in
      let value = part.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
      return value.utf8.count > 5 ? value : nil
    }
  }

  var withoutCredentials: WebAddress { withCredentials(of: nil) }

  func withCredentials(of other: WebAddress?) -> WebAddress {
    var address = self
    (address.user, address.password) = (other?.user, other?.password)
    return address
  }
}

/// The query of a URL, and single parts of its path.
public enum QueryText {
  /// `?limit=5&kinds=a%2Cb`, empty when there is nothing to say.
  ///
  /// - Parameter items: name and value; those without a value are left out.
  public static func encode(_ items: [(name: String, value: String?)]) -> String {
    let pairs = items.compactMap { item in
      item.value.map { "\(part(item.name))=\(part($0))" }
    }
    return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
  }

  /// A text with every byte that is not unreserved (RFC 3986, section 2.3) as
  /// `%XX`: for one value of a query, or one segment of a path.
  public static func part(_ text: String) -> String {
    // A segment of dots alone would be taken for a step in the path.
    let isDots = text.utf8.allSatisfy { $0 == 46 }
    var out = ""
    for byte in text.utf8 {
      if byte.isOfName || byte == 126 || byte == 46 && !isDots {
        out.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        out += "%" + byte.digits(2, radix: 16).uppercased()
      }
    }
    return out
  }
}
