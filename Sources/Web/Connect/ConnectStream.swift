import Core

/// How a Connect stream ended.
public enum ConnectEnd {
  /// The server ended it and says that all is well.
  case complete
  /// The server says why it ended.
  case failed(ConnectError, ResponseHead)
  /// Another answer than a stream: its head and the beginning of its body.
  case refused(ResponseHead, [UInt8])
  /// The connection was lost, or closed before the server said that it ends; one line.
  case cut(String)
  /// What a later try does not better; one line.
  case unusable(String)
  /// The owner ended it.
  case stopped
}

/// Told what comes on a Connect stream, from within `WebClient.perform` or the stream's
/// `tick`.
public protocol ConnectStreamHandler: AnyObject {
  /// The server answers with a stream; the place is the address behind redirects.
  func connectOpened(_ place: String)
  /// A message; false ends the stream, which is then told as `stopped`.
  func connectMessage(_ message: [UInt8]) -> Bool
  /// A message that was passed over for its size.
  func connectOversize(bytes: Int)
  /// Nothing more comes.
  func connectEnded(_ end: ConnectEnd)
}

/// One call of a Connect service that is answered by a stream: JSON over HTTP/1.1. It
/// connects once.
public final class ConnectStream {
  private unowned let handler: any ConnectStreamHandler
  private var exchange: Exchange?
  private var reader: EnvelopeReader
  private var head: ResponseHead?
  /// The body of an answer that is no stream.
  private var refusal: Body?
  /// How it ended, as far as the content says; the end of the transfer follows.
  private var verdict: ConnectEnd?
  private var isHeld = false
  private var received: Int64 = -1
  private var until = Double.infinity
  /// The time of the last bytes received, seconds of `Clock.monotonic`; before any, of
  /// the beginning.
  public private(set) var lastHeard: Double

  /// The largest message that is kept where nothing else is asked for, bytes.
  public static let largest = 64 << 20
  private static let mediaType = "application/connect+json"

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: the address and the headers with the token; method, body and the
  ///     headers about it are set here.
  ///   - message: what is asked, a JSON object.
  ///   - limit: the largest message that is kept, bytes.
  ///   - now: seconds of `Clock.monotonic`.
  ///   - onSend: as of `Exchange`; false ends it as `stopped`.
  ///   - handler: not retained, and outlives the stream.
  public init(
    _ client: WebClient, _ request: Request, message: [UInt8],
    limit: Int = ConnectStream.largest, now: Double, onSend: (() -> Bool)? = nil,
    handler: any ConnectStreamHandler
  ) {
    self.handler = handler
    lastHeard = now
    reader = EnvelopeReader(limit: limit)
    var request = request
    request.method = "POST"
    request.body = EnvelopeReader.envelope(message)
    for name in ["Accept", "Content-Type"] { request.headers.removeAll { $0.isNamed(name) } }
    request.headers += [
      Header("Content-Type", Self.mediaType), Header("Accept-Encoding", "identity"),
    ]
    exchange = Exchange(
      client, request, onSend: onSend, onHead: { [unowned self] in take($0) },
      onBody: { [unowned self] in take($0) }, onEnd: { [unowned self] in finish($0) })
  }

  /// Whether the server has answered with a stream that goes on.
  public var isOpen: Bool { exchange != nil && head != nil && refusal == nil }

  /// Ends it without a word. Not from within a call of the handler.
  public func cancel() {
    exchange?.cancel()
    exchange = nil
  }

  /// Takes no more bytes until `release`.
  public func hold() { isHeld = true }

  /// Goes on after `hold`.
  public func release(now: Double) {
    guard isHeld else { return }
    isHeld = false
    lastHeard = now
    exchange?.resume()
  }

  /// Notices what has come, and the time.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  public func tick(now: Double) -> Double {
    guard let exchange else { return .infinity }
    if isHeld || exchange.received != received {
      received = exchange.received
      lastHeard = now
    }
    guard now >= until else { return until }
    // The body of a refusal takes too long: its head says enough.
    exchange.cancel()
    finish(.stopped)
    return now
  }

  private func take(_ head: ResponseHead) -> Bool {
    self.head = head
    guard head.status == 200 else {
      refusal = Body()
      until = lastHeard + StreamPolicy.errorWait
      return true
    }
    guard head.isConnectStream else {
      verdict = .unusable("\(head.summary): not a Connect stream: \(head.typeText)")
      return false
    }
    handler.connectOpened(exchange?.place ?? "")
    return true
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    if let room = refusal.map({ Fetch.mostOfError - $0.count }) {
      refusal?.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
      return bytes.count < room ? .taken : .stop
    }
    if isHeld { return .pause }
    var rest = bytes
    while let item = reader.next(&rest) {
      switch item {
      case .message(let message):
        if handler.connectMessage(message) { continue }
        verdict = .stopped
      case .oversize(let bytes):
        handler.connectOversize(bytes: bytes)
        continue
      case .end(let content): verdict = Self.end(content, head)
      case .fault(let reason): verdict = .unusable(reason)
      }
      return .stop
    }
    return .taken
  }

  /// What the last envelope says.
  private static func end(_ content: [UInt8], _ head: ResponseHead?) -> ConnectEnd {
    let value = content.withUnsafeBytes { try? JSONValue.parse($0) }
    guard let value, value.isObject, let head else {
      return .unusable("the last envelope of the stream cannot be read")
    }
    guard let error = value[either: "error"] else { return .complete }
    return .failed(ConnectError(reading: error) ?? ConnectError(.unknown, ""), head)
  }

  private func finish(_ end: ExchangeEnd) {
    exchange = nil
    until = .infinity
    if let verdict { return handler.connectEnded(verdict) }
    if var refusal, let head {
      self.refusal = nil
      return handler.connectEnded(.refused(head, refusal.take()))
    }
    switch end {
    case .network(let reason): handler.connectEnded(.cut(reason))
    case .unusable(let reason): handler.connectEnded(.unusable(reason))
    case .complete, .stopped:
      handler.connectEnded(.cut("the server closed the stream without an end"))
    }
  }
}

extension ResponseHead {
  /// Whether the media type is that of a Connect stream of JSON, whatever its case and
  /// parameters.
  fileprivate var isConnectStream: Bool {
    guard let type = value("Content-Type") else { return false }
    let essence = type.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)[0]
    return essence.trimmingBlanks.lowercased() == "application/connect+json"
  }
}
