import Core
public import Frames

/// Follows a WebSocket over any number of connections: waits, connects again, asks for
/// signs of life.
public final class SocketStream: StreamLink {
  private enum State {
    case idle
    case connected
    case waiting(until: Double)
    case ended
  }

  private let client: WebClient
  /// The address and the headers of the next connection.
  public var request: Request
  private let options: SocketOptions
  private let policy: StreamPolicy
  private let pingEvery: Double?
  private let mostUnanswered: Int
  private let judge: (ResponseHead, [UInt8]) -> AnswerProblem?
  private unowned let handler: (any StreamHandler)

  private var reconnect: Reconnect
  private var state = State.idle
  private var socket: WebSocket?
  private var place: String
  private var isHeld = false
  /// When the last ping went out; before the first, when the connection was opened.
  private var pingedAt = 0.0
  private var hasPinged = false
  /// Pings in a row behind which nothing came.
  private var unanswered = 0

  /// Told that a connection is open and messages may be sent, before the handler is.
  public var onOpen: () -> Void = {}

  /// - Parameters:
  ///   - client: whose `perform` drives the stream.
  ///   - request: the address and the headers.
  ///   - options: what is asked of each connection.
  ///   - policy: how it is followed; its `maxEventBytes` takes the place of the options'.
  ///   - pingEvery: how often a ping is sent, seconds; nil for never.
  ///   - mostUnanswered: when nothing came behind this many pings in a row, and the next one
  ///     is due, the connection counts as lost.
  ///   - judge: what the head and the body of an error mean.
  ///   - handler: told what happens; not retained, and outlives the stream.
  public init(
    _ client: WebClient, _ request: Request, options: SocketOptions, policy: StreamPolicy,
    pingEvery: Double? = nil, mostUnanswered: Int = 1,
    judge: @escaping (ResponseHead, [UInt8]) -> AnswerProblem?,
    handler: (any StreamHandler)
  ) {
    self.client = client
    self.request = request
    var options = options
    options.maxMessageBytes = policy.maxEventBytes ?? options.maxMessageBytes
    self.options = options
    self.policy = policy
    self.pingEvery = pingEvery
    self.mostUnanswered = mostUnanswered
    self.judge = judge
    self.handler = handler
    reconnect = Reconnect(policy)
    place = request.address.socketDisplay
  }

  /// Messages have no ids.
  public var lastEventID: [UInt8] { [] }

  public func rewind(to id: [UInt8]) {}

  public var isOpen: Bool { socket?.isOpen == true }

  /// Bytes that were not yet given to the network; 0 without a connection.
  public var unsent: Int { socket?.unsent ?? 0 }

  /// Sends a text, if a connection is open.
  public func send(text: [UInt8]) { socket?.send(text: text) }

  public func tick(now: Double) -> Double {
    switch state {
    case .idle: connect(now)
    case .waiting(let until) where until <= now: connect(now)
    case .connected, .waiting, .ended: break
    }
    let next = socket?.tick(now: now) ?? .infinity
    switch state {
    case .waiting(let until): return until
    case .connected: return min(next, watch(now))
    case .idle, .ended: return .infinity
    }
  }

  public func hold() {
    isHeld = true
    socket?.hold()
  }

  public func release(now: Double) {
    guard isHeld else { return }
    isHeld = false
    pingedAt = now
    hasPinged = false
    socket?.release()
  }

  public func drop(_ reason: String) { drop(reason, after: nil) }

  /// The same, with the shortest time until the next connection, seconds.
  public func drop(_ reason: String, after least: Double?) {
    if socket != nil { lose(reason, after: least) }
  }

  /// Goes on where it ended by a refusal, with another `request`. Not from within a call of the
  /// handler.
  public func tryAgain() {
    if case .ended = state { state = .idle }
  }

  public func stop() {
    socket?.cancel()
    socket = nil
    state = .ended
  }

  private func connect(_ now: Double) {
    isHeld = false
    state = .connected
    socket = WebSocket(client, request, options: options, handler: self)
  }

  /// Notices silence, and pings.
  private func watch(_ now: Double) -> Double {
    guard let socket, !isHeld else { return .infinity }
    var next = Double.infinity
    if let limit = policy.idleTimeout {
      if now - socket.lastHeard >= limit {
        lose("nothing came for \(StreamPolicy.seconds(limit)) s")
        return tick(now: now)
      }
      next = socket.lastHeard + limit
    }
    if let pingEvery, socket.isOpen {
      if now - pingedAt >= pingEvery {
        unanswered = hasPinged && socket.lastHeard < pingedAt ? unanswered + 1 : 0
        if unanswered >= mostUnanswered {
          let waited = StreamPolicy.seconds(pingEvery * Double(mostUnanswered))
          lose("no answer to a ping within \(waited) s")
          return tick(now: now)
        }
        socket.ping()
        pingedAt = now
        hasPinged = true
      }
      next = min(next, pingedAt + pingEvery)
    }
    return next
  }

  private func lose(_ reason: String, after least: Double? = nil) {
    // It may be there still, and only slow.
    socket?.cancel(1001)
    socket = nil
    isHeld = false
    let now = Clock.monotonic
    guard let wait = reconnect.failed(now: now, after: least) else {
      return end(.gaveUp(reason))
    }
    state = .waiting(until: now + wait)
    handler.streamLost(reason, wait: wait)
  }

  private func end(_ end: StreamEnd) {
    socket = nil
    state = .ended
    handler.streamEnded(end, at: place)
  }
}

extension SocketStream: SocketHandler {
  public func socketOpened(_ place: String, subprotocol: String?) {
    self.place = place
    let now = Clock.monotonic
    pingedAt = now
    hasPinged = false
    let (isFirst, down) = reconnect.opened(now: now)
    onOpen()
    handler.streamOpened(place, isFirst: isFirst, down: down)
  }

  public func socketMessage(_ message: SocketMessage) {
    reconnect.succeeded()
    handler.streamItem(.message(message))
  }

  public func socketOversize(bytes: Int) { handler.streamItem(.oversize(bytes: bytes)) }

  public func socketEnded(_ end: SocketEnd) {
    socket = nil
    switch end {
    case .closed(let code, let reason): lose(Self.words(code, reason))
    case .network(let reason): lose(reason)
    case .violated(let code, let reason):
      let what = "the server broke the protocol"
      handler.streamItem(.fault("\(what): \(reason); closed with \(code)"))
      lose(what)
    case .redirects(let reason), .notSocket(let reason):
      self.end(.failed(AnswerProblem(reason, .failure)))
    case .refused(let head, let body): refuse(head, body)
    }
  }

  private func refuse(_ head: ResponseHead, _ body: [UInt8]) {
    guard let problem = judge(head, body) else {
      return end(.failed(AnswerProblem("\(head.summary): not a WebSocket", .failure)))
    }
    switch StreamVerdict.judge(problem, head, now: Clock.unix) {
    case .retry(let reason, let wait): lose(reason, after: wait)
    case .failed(let problem): end(.failed(problem))
    case .open, .noContent: break
    }
  }

  /// `the server closed the connection: 1001, going away`.
  private static func words(_ code: UInt16?, _ reason: String) -> String {
    let known = code.map { ": \($0)" } ?? ""
    return "the server closed the connection\(known)" + (reason.isEmpty ? "" : ", \(reason)")
  }
}
