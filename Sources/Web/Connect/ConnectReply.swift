import Core

/// A call of a Connect service that is answered by a stream: JSON over HTTP/1.1. It connects once.
public final class ConnectReply {
  /// What comes.
  public enum Item {
    /// A message.
    case message([UInt8])
    /// A message over the limit was skipped.
    case oversize(bytes: Int)
    /// The server ended the stream, for a reason or because that was all.
    case end(ConnectError?, ResponseHead)
  }

  /// The largest message that is kept where nothing else is asked for, bytes.
  public static let largest = 64 << 20
  private static let mediaType = "application/connect+json"

  private let response: LiveResponse
  private var reader: EnvelopeReader
  private var rest = UnsafeRawBufferPointer(start: nil, count: 0)

  /// Asks, and does not wait.
  ///
  /// - Parameters:
  ///   - request: the address and the headers with the token; method, body and the headers about
  ///     it are set here.
  ///   - message: what is asked, a JSON object.
  ///   - limit: the largest message that is kept, bytes.
  ///   - onSend: as of `Exchange`.
  public init(
    _ waiter: Waiter, _ request: Request, message: [UInt8], limit: Int = largest,
    onSend: (() -> Bool)? = nil
  ) {
    reader = EnvelopeReader(limit: limit)
    var request = request
    request.method = "POST"
    request.body = EnvelopeReader.envelope(message)
    for name in ["Accept", "Content-Type"] { request.headers.removeAll { $0.isNamed(name) } }
    request.headers += [
      Header("Content-Type", Self.mediaType), Header("Accept-Encoding", "identity"),
    ]
    response = LiveResponse(
      waiter, request, closing: "the server closed the stream without an end", onSend: onSend)
  }

  /// Whether the server has answered with a stream.
  public var isOpen: Bool { response.head != nil }

  /// The address behind redirects, for messages.
  public var place: String { response.place }

  /// The time of the last bytes received, seconds of `Clock.monotonic`; before any, of the
  /// beginning.
  public var lastHeard: Double { response.lastHeard }

  /// Whether `receive` need not wait.
  public var isReady: Bool { rest.count > 0 || response.isReady }

  /// Waits for the next item.
  ///
  /// - Parameter until: when to return without one, seconds of `Clock.monotonic`.
  /// - Returns: nil when that time has come, or something else that is waited for has got on.
  /// - Throws: `LinkEnd`; `refused` for an error.
  public func receive(until: Double) throws(LinkEnd) -> Item? {
    if let item = try next() { return item }
    let bytes = try response.receive(until: until)
    if let head = response.head {
      if head.status != 200 { throw .refused(head, []) }
      guard head.isConnectStream else {
        throw unusable("\(head.summary): not a Connect stream: \(head.typeText)")
      }
    }
    guard let bytes else { return nil }
    rest = bytes
    return try next()
  }

  private func next() throws(LinkEnd) -> Item? {
    guard rest.count > 0, let head = response.head else { return nil }
    switch reader.next(&rest) {
    case .message(let message): return .message(message)
    case .oversize(let bytes): return .oversize(bytes: bytes)
    case .fault(let reason): throw unusable(reason)
    case .end(let content):
      let value = JSONValue(content)
      guard let value, value.isObject else {
        throw unusable("the last envelope of the stream cannot be read")
      }
      guard let error = value[either: "error"] else { return .end(nil, head) }
      return .end(ConnectError(reading: error) ?? ConnectError(.unknown, ""), head)
    case nil: return nil
    }
  }

  private func unusable(_ reason: String) -> LinkEnd {
    .failed(Failure(reason, .failure))
  }
}

extension ResponseHead {
  /// Whatever its case and parameters.
  fileprivate var isConnectStream: Bool {
    guard let type = value("Content-Type") else { return false }
    let essence = type.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
    return essence.trimmingBlanks.lowercased() == "application/connect+json"
  }
}
