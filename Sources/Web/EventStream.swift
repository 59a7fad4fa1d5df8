public import Core

/// Follows one event stream over any number of connections: parses, keeps the
/// last event id, waits, reconnects (WHATWG HTML 9.2).
public final class EventStream: StreamLink {
  private enum State {
    case idle
    case connecting
    case open
    case waiting(until: Double)
    case ended
  }

  private let client: WebClient
  private let request: Request
  private let judge: (ResponseHead, [UInt8]) -> AnswerProblem?
  private let resuming: () -> [Header]
  private let policy: StreamPolicy
  private let clock: () -> Double
  private let date: () -> Double
  private let random: () -> Double
  private unowned let handler: (any StreamHandler)

  private var parser: EventParser
  private var reconnect: Reconnect
  private var state = State.idle
  private var exchange: Exchange?
  private var verdict: StreamVerdict?
  /// An error, whose body is read before it is judged, until a time at the latest.
  private var refusal: (head: ResponseHead, body: Body, until: Double)?
  private var lastByte = 0.0
  private var lastReceived: Int64 = -1
  private var isHeld = false

  /// - Parameters:
  ///   - client: whose `perform` drives the stream.
  ///   - request: the stream; Accept, Accept-Encoding, Cache-Control and Last-Event-ID
  ///     are added.
  ///   - policy: how it is followed.
  ///   - judge: what the head and the body of an error mean.
  ///   - clock: seconds of `Clock.monotonic`, read when something happens between
  ///     two ticks, whose time may be old by then.
  ///   - date: seconds since 1970, for answers without a date of their own.
  ///   - random: numbers in [0, 1) for the jitter.
  ///   - handler: told what happens; not retained, and outlives the stream.
  public init(
    _ client: WebClient, _ request: Request, policy: StreamPolicy,
    judge: @escaping (ResponseHead, [UInt8]) -> AnswerProblem?,
    resuming: @escaping () -> [Header] = { [] },
    clock: @escaping () -> Double = { Clock.monotonic },
    date: @escaping () -> Double = { Clock.unix },
    random: @escaping () -> Double = { Double.random(in: 0..<1) }, handler: (any StreamHandler)
  ) {
    self.client = client
    self.request = request
    self.judge = judge
    self.resuming = resuming
    self.policy = policy
    self.clock = clock
    self.date = date
    self.random = random
    self.handler = handler
    parser = EventParser(
      keepsComments: policy.keepsComments, maxEventBytes: policy.maxEventBytes)
    parser.lastEventID = policy.lastEventID
    reconnect = Reconnect(policy)
  }

  public var lastEventID: [UInt8] { parser.lastEventID }

  public func rewind(to id: [UInt8]) { parser.lastEventID = id }

  public var isOpen: Bool { if case .open = state { true } else { false } }

  public func tick(now: Double) -> Double {
    switch state {
    case .idle: connect(now)
    case .waiting(let until) where until <= now: connect(now)
    case .connecting, .open: noticeSilence(now)
    case .waiting, .ended: break
    }
    if let refusal {
      if now < refusal.until { return refusal.until }
      exchange?.cancel()
      finish(.stopped)
    }
    switch state {
    case .waiting(let until): return until
    case .connecting, .open:
      return policy.idleTimeout.map { isHeld ? now + $0 : lastByte + $0 } ?? .infinity
    case .idle, .ended: return .infinity
    }
  }

  public func hold() { isHeld = true }

  public func release(now: Double) {
    guard isHeld else { return }
    isHeld = false
    lastByte = now
    exchange?.resume()
  }

  public func drop(_ reason: String) {
    guard exchange != nil else { return }
    lose(reason, after: nil)
  }

  public func stop() {
    exchange?.cancel()
    exchange = nil
    state = .ended
  }

  private func connect(_ now: Double) {
    state = .connecting
    verdict = nil
    refusal = nil
    lastByte = now
    lastReceived = -1
    isHeld = false
    var request = request
    request.headers += [
      Header("Accept", "text/event-stream"), Header("Cache-Control", "no-cache"),
      // An event is of use when it comes, and not when enough have come to compress them.
      Header("Accept-Encoding", "identity"),
    ]
    let id = parser.lastEventID
    if !id.isEmpty {
      request.headers.append(Header("Last-Event-ID", String(decoding: id, as: UTF8.self)))
      request.headers += resuming()
    }
    exchange = Exchange(
      client, request, onHead: { [unowned self] in take($0) },
      onBody: { [unowned self] in take($0) }, onEnd: { [unowned self] in finish($0) })
  }

  private func noticeSilence(_ now: Double) {
    guard let limit = policy.idleTimeout, let exchange, !isHeld, refusal == nil else { return }
    let received = exchange.received
    // A head may come drop by drop, and never end.
    if received != lastReceived, case .open = state {
      lastReceived = received
      lastByte = now
    } else if now - lastByte >= limit {
      lose("nothing came for \(StreamPolicy.seconds(limit)) s", after: nil)
    }
  }

  private func take(_ head: ResponseHead) -> Bool {
    verdict = StreamVerdict.judge(head)
    if verdict == nil {
      refusal = (head, Body(), clock() + StreamPolicy.errorWait)
      return true
    }
    guard verdict == .open, let exchange else { return false }
    state = .open
    parser.restart()
    let (isFirst, down) = reconnect.opened(now: clock())
    handler.streamOpened(exchange.place, isFirst: isFirst, down: down)
    return true
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    if let room = refusal.map({ Fetch.mostOfError - $0.body.count }) {
      refusal?.body.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
      return bytes.count < room ? .taken : .stop
    }
    if isHeld { return .pause }
    let handler = handler
    parser.consume(bytes) { take($0, handler) }
    return .taken
  }

  private func take(_ item: StreamItem, _ handler: any StreamHandler) {
    switch item {
    case .retry(let milliseconds):
      let seconds = min(Double(milliseconds) / 1000, RetryAfter.limit)
      reconnect.setFirstWait(max(seconds, StreamPolicy.shortestWait))
      return
    case .event(let event) where !event.isPartial:
      reconnect.succeeded()
    case .event, .comment, .oversize, .message, .fault: break
    }
    handler.streamItem(item)
  }

  private func finish(_ end: ExchangeEnd) {
    let place = exchange?.place ?? request.address.display
    if let head = refusal?.head, let body = refusal?.body.take() {
      refusal = nil
      verdict = judge(head, body).map {
        StreamVerdict.judge($0, head, now: date())
      }
    }
    switch (verdict, end) {
    case (.noContent, _): stop(.noContent, place)
    case (.failed(let problem), _): stop(.failed(problem), place)
    case (.retry(let reason, let wait), _): lose(reason, after: wait)
    case (_, .unusable(let reason)): stop(.failed(AnswerProblem(reason, .failure)), place)
    case (_, .network(let reason)): lose(reason, after: nil)
    case (_, .complete), (_, .stopped): lose("the server closed the stream", after: nil)
    }
  }

  private func lose(_ reason: String, after least: Double?) {
    exchange?.cancel()
    exchange = nil
    isHeld = false
    if case .open = state {
      parser.finish(flushPartial: policy.flushPartial) { take($0, handler) }
    }
    let now = clock()
    guard let wait = reconnect.failed(now: now, after: least, random: random()) else {
      stop(.gaveUp(reason), request.address.display)
      return
    }
    state = .waiting(until: now + wait)
    handler.streamLost(reason, wait: wait)
  }

  private func stop(_ end: StreamEnd, _ place: String) {
    exchange = nil
    state = .ended
    handler.streamEnded(end, at: place)
  }
}
