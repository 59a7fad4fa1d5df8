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
        throw .failed(Failure("\(head.summary): not a Connect stream: \(head.typeText)"))
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
    case .fault(let reason): throw .failed(Failure(reason))
    case .end(let content):
      let value = JSONValue(content)
      guard let value, value.isObject else {
        throw .failed(Failure("the last envelope of the stream cannot be read"))
      }
      guard let error = value[either: "error"] else { return .end(nil, head) }
      return .end(ConnectError(reading: error) ?? ConnectError(.unknown, ""), head)
    case nil: return nil
    }
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

/// Takes the envelopes of a Connect stream out of bytes that are cut anywhere: a byte of
/// flags, four of length, so many of content (Connect protocol, "Streaming response").
public struct EnvelopeReader: Sendable {
  /// What was found.
  public enum Item: Equatable, Sendable {
    /// The content of a message.
    case message([UInt8])
    /// The content of the last envelope.
    case end([UInt8])
    /// A message that was passed over for its size; its bytes.
    case oversize(Int)
    /// What came is no envelope, or not one that was asked for; nothing behind it can be
    /// read. One line.
    case fault(String)
  }

  private let limit: Int
  private var head: [UInt8] = []
  private var content: [UInt8] = []
  private var missing: Int?
  private var isOver = false

  private static let headSize = 5
  private static let (compressed, last): (UInt8, UInt8) = (1, 2)
  /// Room that is taken at once, whatever a length claims, bytes.
  private static let firstRoom = 64 << 10

  /// - Parameter limit: the largest content of a message that is kept, bytes.
  public init(limit: Int) { self.limit = limit }

  /// Takes bytes up to the end of the next envelope.
  ///
  /// - Parameter bytes: what came; what was taken is gone from its front.
  /// - Returns: nil when more bytes are needed, and behind a fault or the last envelope.
  public mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Item? {
    while !isOver {
      if missing == nil {
        receive(&bytes, upTo: Self.headSize - head.count) { $0.head += $1 }
        guard head.count == Self.headSize else { return nil }
        if let item = begin() { return item }
      }
      guard let wanted = missing else { continue }
      let isKept = size <= limit
      receive(&bytes, upTo: wanted) { reader, piece in
        reader.missing = wanted - piece.count
        if isKept { reader.content += piece }
      }
      guard missing == 0 else { return nil }
      return finish()
    }
    return nil
  }

  private mutating func receive(
    _ bytes: inout UnsafeRawBufferPointer, upTo count: Int,
    _ keep: (inout EnvelopeReader, UnsafeRawBufferPointer.SubSequence) -> Void
  ) {
    let piece = bytes.prefix(count)
    keep(&self, piece)
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(piece.count))
  }

  private var size: Int { head.dropFirst().reduce(0) { $0 << 8 | Int($1) } }

  private mutating func begin() -> Item? {
    let flags = head[0]
    if flags & ~(Self.compressed | Self.last) != 0 {
      return fail("not an envelope: it begins with the byte \(flags)")
    }
    if flags & Self.compressed != 0 { return fail("a compressed message, which was not asked for") }
    if flags & Self.last != 0, size > limit { return fail("a last envelope of \(size) bytes") }
    missing = size
    if size <= limit { content.reserveCapacity(min(size, Self.firstRoom)) }
    return nil
  }

  private mutating func finish() -> Item {
    defer {
      head = []
      content = []
      missing = nil
    }
    if head[0] & Self.last != 0 {
      isOver = true
      return .end(content)
    }
    return size > limit ? .oversize(size) : .message(content)
  }

  private mutating func fail(_ reason: String) -> Item {
    isOver = true
    return .fault(reason)
  }

  /// A message in its envelope.
  public static func envelope(_ message: [UInt8]) -> [UInt8] {
    let size = UInt32(message.count)
    return [
      0, UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255),
    ]
      + message
  }
}
