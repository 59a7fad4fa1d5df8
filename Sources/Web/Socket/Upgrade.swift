public import Core
import Frames

/// The handshake of a WebSocket as its client makes it (RFC 6455, section 4).
public struct Upgrade {
  /// Fresh for each connection, base64 of 16 random bytes.
  let key: String
  /// What is offered, without what was offered twice.
  let subprotocols: [String]
  private let request: Request
  private let agent: String

  /// What is said by us alone: extensions would change the frames.
  public static let reserved = [
    "upgrade", "connection", "sec-websocket-key", "sec-websocket-version",
    "sec-websocket-extensions", "sec-websocket-accept", "content-length", "transfer-encoding",
  ]
  private static let offer = "Sec-WebSocket-Protocol"

  /// `subprotocols`: beside those of the user's headers; `key`: of 16 random bytes.
  init(
    _ request: Request, subprotocols: [String], agent: String,
    key: [UInt8] = (0..<16).map { _ in UInt8.random(in: 0...255) }
  ) {
    self.request = request
    self.agent = agent
    self.key = Base64.text(key)
    let given = request.privateHeaders.filter { $0.isNamed(Self.offer) }.flatMap { Self.list($0) }
    self.subprotocols = (subprotocols + given).reduce(into: []) { kept, each in
      if !kept.contains(each) { kept.append(each) }
    }
  }

  var bytes: [UInt8] {
    let address = request.address
    var headers = [Header("Host", address.authority), Header("User-Agent", agent)]
    if let user = address.user {
      let pair = Array("\(user):\(address.password ?? "")".utf8)
      headers.append(Header("Authorization", "Basic \(Base64.text(pair))"))
    }
    headers += request.headers
    let own = request.privateHeaders.filter { header in
      !header.isNamed(Self.offer) && !Self.reserved.contains { header.isNamed($0) }
    }
    // A header of the user's takes the place of ours of that name.
    headers.removeAll { header in own.contains { $0.isNamed(header.name) } }
    headers += own
    headers += [
      Header("Upgrade", "websocket"), Header("Connection", "Upgrade"),
      Header("Sec-WebSocket-Key", key), Header("Sec-WebSocket-Version", "13"),
    ]
    if !subprotocols.isEmpty {
      headers.append(Header(Self.offer, subprotocols.joined(separator: ", ")))
    }
    let lines = ["GET \(address.target) HTTP/1.1"] + headers.map { "\($0.name): \($0.value)" }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  func fault(of head: ResponseHead) -> String? {
    func has(_ name: String, _ word: String) -> Bool {
      head.headers.contains { header in
        header.isNamed(name) && Self.list(header).contains { $0.lowercased() == word }
      }
    }
    guard has("Upgrade", "websocket"), has("Connection", "upgrade") else {
      return "\(head.summary), but not to a WebSocket"
    }
    let accepts = head.headers.filter { $0.isNamed("Sec-WebSocket-Accept") }
    guard accepts.count == 1, accepts[0].value == accept else {
      return "\(head.summary), but Sec-WebSocket-Accept does not fit the key"
    }
    if let extensions = head.value("Sec-WebSocket-Extensions"), !extensions.isEmpty {
      return "\(head.summary), but with an extension that was not asked for"
    }
    let taken = head.headers.filter { $0.isNamed(Self.offer) }
    if taken.count > 1 || taken.contains(where: { !subprotocols.contains($0.value) }) {
      return "\(head.summary), but with a subprotocol that was not offered"
    }
    return nil
  }

  func subprotocol(of head: ResponseHead) -> String? { head.value(Self.offer) }

  /// What the server must answer to the key.
  var accept: String { HandshakeKey.accept(key) }

  private static func list(_ header: Header) -> [String] {
    header.value.split(separator: ",").map { $0.trimmingBlanks }.filter { !$0.isEmpty }
  }
}

extension WebAddress {
  /// Reads an absolute URL of a WebSocket: `ws` and `wss` are taken for `http` and
  /// `https`, which it begins with.
  public init(socket text: String) throws(Failure) {
    do throws(Failure) {
      try self.init(Self.webText(text))
    } catch {
      guard error.reason == "not an http or https url" else { throw error }
      throw Failure("not a ws or wss url")
    }
  }

  static func webText(_ text: String) -> String {
    for (scheme, web) in [("ws://", "http://"), ("wss://", "https://")]
    where text.prefix(scheme.count).lowercased() == scheme {
      return web + text.dropFirst(scheme.count)
    }
    return text
  }

  /// For messages, as the address of a WebSocket: `wss://host/path`.
  public var socketDisplay: String {
    display.hasPrefix("http") ? "ws" + display.dropFirst(4) : display
  }

  var authority: String {
    port == (scheme == "https" ? 443 : 80) ? host : "\(host):\(port)"
  }

  var target: String {
    let bytes = text.utf8
    guard let scheme = text.place(of: "://") else { return "/" }
    let rest = bytes[scheme.upperBound...]
    guard let start = rest.firstIndex(where: { $0 == 47 || $0 == 63 }) else { return "/" }
    let target = String(decoding: rest[start...], as: UTF8.self)
    return target.hasPrefix("/") ? target : "/" + target
  }
}
