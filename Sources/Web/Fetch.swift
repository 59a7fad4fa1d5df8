import Core

/// How a fetch ended.
public enum FetchEnd {
  /// A response came whole: its head and its body.
  case response(ResponseHead, [UInt8])
  /// The network failed, or the body passed the limit; one line.
  case failed(String)
  /// What no later try betters: redirects that make no sense, or an event
  /// stream, whose end never comes; one line.
  case unusable(String)
}

/// One request whose whole answer is wanted, beside other transfers of a client.
public final class Fetch {
  private var exchange: Exchange?
  private var head: ResponseHead?
  private var body: [UInt8] = []
  private var isTooLarge = false
  private var received: Int64 = -1
  private var lastByte: Double
  private let silence: Double
  private let limit: Int
  private let onEnd: (FetchEnd) -> Void

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: what to ask; redirects are followed.
  ///   - now: seconds of `Clock.monotonic`.
  ///   - silence: seconds without a byte after which it fails.
  ///   - limit: the largest body, bytes.
  ///   - onEnd: told the end, once.
  public init(
    _ client: WebClient, _ request: Request, now: Double, silence: Double = 45,
    limit: Int = 1 << 30, onEnd: @escaping (FetchEnd) -> Void
  ) {
    self.silence = silence
    self.limit = limit
    self.onEnd = onEnd
    lastByte = now
    exchange = Exchange(
      client, request,
      onHead: { [unowned self] in
        head = $0
        return !$0.isEventStream
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
    if exchange.received != received {
      received = exchange.received
      lastByte = now
    } else if now - lastByte >= silence {
      cancel()
      onEnd(.failed("no answer"))
      return .infinity
    }
    return lastByte + silence
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    if bytes.count > limit - body.count {
      isTooLarge = true
      return .stop
    }
    body.append(contentsOf: bytes)
    return .taken
  }

  private func finish(_ end: ExchangeEnd) {
    exchange = nil
    switch end {
    case .complete:
      if let head { onEnd(.response(head, body)) } else { onEnd(.failed("no answer")) }
    case .stopped where head?.isEventStream == true:
      onEnd(.unusable("an event stream, which does not end; see sse-tail(1)"))
    case .stopped: onEnd(.failed(isTooLarge ? "the answer is too large" : "ended"))
    case .network(let reason): onEnd(.failed(reason))
    case .redirects(let reason): onEnd(.unusable(reason))
    }
  }
}
