import Core

/// How a fetch ended.
public enum FetchEnd {
  /// A response came whole: its head and its body.
  case response(ResponseHead, [UInt8])
  /// The network failed; one line.
  case failed(String)
  /// What no later try betters: redirects that make no sense, a body past the
  /// limit, or an event stream, whose end never comes; one line.
  case unusable(String)
}

/// One request whose whole answer is wanted, beside other transfers of a client.
public final class Fetch {
  private var exchange: Exchange?
  private var head: ResponseHead?
  private var body = Body()
  /// Whether the body of the answer is larger than the limit: then it ends as `unusable`.
  public private(set) var isTooLarge = false
  private var received: Int64 = -1
  private var lastByte: Double
  private let silence: Double
  private let limit: Int
  private let onEnd: (FetchEnd) -> Void

  /// The largest answer that is taken, bytes.
  public static let largest = 64 << 20
  /// More of an error says nothing more, bytes.
  static let mostOfError = 64 << 10

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: what to ask; redirects are followed.
  ///   - now: seconds of `Clock.monotonic`.
  ///   - silence: seconds without a byte after which it fails.
  ///   - limit: the largest body of an answer of 2xx, bytes; of any other the
  ///     beginning is handed over.
  ///   - onSend: as of `Exchange`; false ends it as `failed`.
  ///   - onEnd: told the end, once.
  public init(
    _ client: WebClient, _ request: Request, now: Double, silence: Double = 45,
    limit: Int = Fetch.largest, onSend: (() -> Bool)? = nil, onEnd: @escaping (FetchEnd) -> Void
  ) {
    self.silence = silence
    self.limit = limit
    self.onEnd = onEnd
    lastByte = now
    exchange = Exchange(
      client, request, onSend: onSend,
      onHead: { [unowned self] in
        head = $0
        return !isStream && !isTooLarge($0)
      }, onBody: { [unowned self] in take($0) }, onEnd: { [unowned self] in finish($0) })
  }

  /// Ends the fetch; nothing more is told.
  public func cancel() {
    exchange?.cancel()
    exchange = nil
  }

  /// Notices silence.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  public func tick(now: Double) -> Double {
    guard let exchange else { return .infinity }
    // A head may come drop by drop, and never end.
    if exchange.received != received {
      received = exchange.received
      if head != nil { lastByte = now }
    }
    // The body of an error need not end when it is of a stream.
    let isRefusal = isError && head?.isEventStream == true
    let patience = isRefusal ? min(silence, StreamPolicy.errorWait) : silence
    if now - lastByte >= patience {
      cancel()
      if isRefusal { finish(.stopped) } else { onEnd(.failed("no answer")) }
      // The owner may have put it by until the next tick.
      return now
    }
    return lastByte + patience
  }

  private var isError: Bool { head.map { !(200...299).contains($0.status) } ?? false }

  /// Whether an answer that is no error is a stream, which does not end.
  private var isStream: Bool { head?.isEventStream == true && !isError }

  /// Whether the head says so; the length is that of the bytes on the wire, which
  /// compression only makes smaller.
  private func isTooLarge(_ head: ResponseHead) -> Bool {
    isTooLarge = !isError && head.value("Content-Length").flatMap { Int($0) } ?? 0 > limit
    return isTooLarge
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    let most = isError ? Self.mostOfError : limit
    if bytes.count > most - body.count {
      isTooLarge = true
      body.append(UnsafeRawBufferPointer(rebasing: bytes[..<(most - body.count)]))
      return .stop
    }
    body.append(bytes)
    return .taken
  }

  private func finish(_ end: ExchangeEnd) {
    exchange = nil
    switch end {
    case .complete:
      if let head { onEnd(.response(head, body.take())) } else { onEnd(.failed("no answer")) }
    case .stopped where isStream:
      onEnd(.unusable("an event stream, which does not end; see sse-tail(1)"))
    case .stopped:
      if isError, let head { return onEnd(.response(head, body.take())) }
      onEnd(isTooLarge ? .unusable("the answer is larger than \(limit) bytes") : .failed("ended"))
    case .network(let reason): onEnd(.failed(reason))
    case .unusable(let reason):
      if isError, let head { return onEnd(.response(head, body.take())) }
      onEnd(.unusable(reason))
    }
  }
}

/// The bytes of an answer as they come: in pieces, so that a large one is in memory
/// once, and not twice each time that it grows.
struct Body {
  private static let pieceSize = 1 << 20
  private var pieces: [[UInt8]] = []
  /// The bytes so far.
  private(set) var count = 0

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    if let last = pieces.indices.last, pieces[last].count + bytes.count <= Self.pieceSize {
      pieces[last] += bytes
    } else {
      pieces.append(Array(bytes))
    }
  }

  /// Hands all of them out, and gives each piece back as soon as it was copied.
  mutating func take() -> [UInt8] {
    defer { self = Body() }
    if pieces.count < 2 { return pieces.first ?? [] }
    var whole: [UInt8] = []
    whole.reserveCapacity(count)
    for index in pieces.indices {
      whole += pieces[index]
      pieces[index] = []
    }
    return whole
  }
}
