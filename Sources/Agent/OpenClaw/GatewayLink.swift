import Core
import Frames
import Records
import Web

/// A connection to an OpenClaw gateway that lasts: it shakes hands, notices silence and holes,
/// connects again, and matches answers to requests (Agent/OpenClaw/CONTRACT.md 1 to 5).
final class GatewayLink {
  private enum State {
    case idle
    /// Until a connection stands, the challenge comes, or the greeting.
    case greeting(until: Double)
    case open(GatewayHello)
    case waiting(until: Double)
    case ended
  }

  let place: String
  private let client: WebClient
  private let server: AgentServer
  private let policy: StreamPolicy
  private var door: GatewayDoor
  private let waitsForPairing: Bool
  private unowned let owner: any GatewayLinkOwner

  private var state = State.idle
  private var socket: WebSocket?
  private let calls = GatewayCalls()
  private var reconnect: Reconnect
  private var connectID: String?
  private var lastSeq: Int64?
  /// Why the gateway said it would go, and for how long.
  private var shutdown: (reason: String, after: Double?)?

  /// How long the challenge and the answer to ours may take, seconds.
  private static let (challengeTime, answerTime) = (15.0, 30.0)
  /// The largest frame that is taken, bytes.
  static let mostBytes = 64 << 20
  /// The close code of a client that heard no ticks.
  private static let silenceCode: UInt16 = 4000

  init(
    _ client: WebClient, _ keys: GatewayKeys, wishes: GatewayDoor.Wishes, policy: StreamPolicy,
    owner: any GatewayLinkOwner
  ) {
    self.client = client
    server = keys.server
    door = GatewayDoor(keys, wishes)
    waitsForPairing = wishes.waitsForPairing
    self.policy = policy
    self.owner = owner
    place = server.base.socketDisplay
    reconnect = Reconnect(policy)
  }

  /// What the gateway greeted with; nil while it is not open.
  var hello: GatewayHello? { if case .open(let hello) = state { hello } else { nil } }

  // MARK: - Asking

  /// Asks the gateway; told `lost` when the connection goes first, or is not there.
  ///
  /// - Parameters:
  ///   - method: such as `chat.send`.
  ///   - params: an object of no member that the method does not know.
  ///   - time: how long an answer may take, seconds.
  ///   - then: told the answer, once.
  func call(
    _ method: String, _ params: RecordText, time: Double = GatewayCalls.usualTime,
    then: @escaping (GatewayReply) -> Void
  ) {
    guard let hello, let socket else { return then(.lost) }
    let until = Clock.monotonic + time
    let frame = calls.add(method, params, until: until, then: then)
    if frame.count > hello.mostBytes {
      let words = "\(frame.count) bytes are more than the gateway takes"
      return calls.settleLast(.refused(GatewayError(code: "", message: words)))
    }
    socket.send(text: frame)
  }

  // MARK: - Time

  /// Does what the time asks for.
  ///
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    switch state {
    case .idle: connect(now)
    case .waiting(let until) where until <= now: connect(now)
    case .greeting(let until) where until <= now:
      lose("no \(connectID == nil ? "challenge" : "greeting") came in time", after: nil)
    case .open(let hello): noticeSilence(hello, now)
    default: break
    }
    calls.expire(now: now)
    let resent = calls.takeDue(now: now)
    for frame in resent { socket?.send(text: frame) }
    let next = min(calls.next, socket?.tick(now: now) ?? .infinity)
    switch state {
    case .greeting(let until), .waiting(let until): return min(next, until)
    case .open(let hello):
      return min(next, (socket?.lastHeard ?? now) + (patience(hello) ?? .infinity))
    case .idle: return now
    case .ended: return .infinity
    }
  }

  /// Ends the link without a word.
  func stop() {
    let socket = socket
    self.socket = nil
    state = .ended
    calls.removeAll()
    // What was said last is to arrive; nobody waits for the echo.
    socket?.cancel()
  }

  /// Ends the connection as if the network had.
  func drop(_ reason: String) { if socket != nil { lose(reason, after: nil) } }

  /// Takes no more until `release`.
  func hold() { socket?.hold() }

  /// Goes on after `hold`.
  func release() { socket?.release() }

  private func patience(_ hello: GatewayHello) -> Double? {
    policy.idleTimeout.map { $0.isFinite ? $0 : hello.tick * 2 }
  }

  private func noticeSilence(_ hello: GatewayHello, _ now: Double) {
    guard let socket, let limit = patience(hello), now - socket.lastHeard >= limit else { return }
    socket.close(Self.silenceCode, "tick timeout")
    lose("nothing came for \(Latency.seconds(limit)) s", after: nil)
  }

  private func connect(_ now: Double) {
    state = .greeting(until: .infinity)
    connectID = nil
    lastSeq = nil
    shutdown = nil
    var options = SocketOptions()
    // The token is in the first message alone; what answers a later connection may quote it.
    options.staysAtOrigin = true
    options.maxMessageBytes = policy.maxEventBytes ?? Self.mostBytes
    var request = Request(server.base)
    request.unquotable = door.secrets
    socket = WebSocket(client, request, options: options, handler: self)
  }

  // MARK: - The greeting

  private func greet(_ event: GatewayEvent) {
    guard connectID == nil, event.name == "connect.challenge", let challenge = event.object
    else { return }
    guard let params = door.answer(to: challenge, now: Clock.unix) else {
      return finish(.failed(AnswerProblem("the gateway's challenge has no nonce", .failure)))
    }
    let id = calls.newID()
    connectID = id
    state = .greeting(until: Clock.monotonic + Self.answerTime)
    socket?.send(text: GatewayCalls.frame(id, "connect", params))
  }

  private func welcome(_ answer: GatewayAnswer) {
    switch door.judge(answer) {
    case .open(let hello):
      if let fault = door.keep(hello) { owner.linkFaulted(fault.message) }
      state = .open(hello)
      let (isFirst, down) = reconnect.opened(now: Clock.monotonic)
      owner.linkOpened(hello, isFirst: isFirst, down: down)
    case .pairing(let words, let least):
      guard waitsForPairing else { return finish(.failed(AnswerProblem(words, .denied))) }
      close()
      let now = Clock.monotonic
      guard let wait = reconnect.failed(now: now, after: least) else {
        return finish(.gaveUp(words))
      }
      state = .waiting(until: now + wait)
      owner.linkWaits(words, wait: wait)
    case .again:
      close()
      state = .idle
    case .later(let reason, let least): lose(reason, after: least)
    case .refused(let problem): finish(.failed(problem))
    }
  }

  // MARK: - The end of a connection

  private func close() {
    let socket = socket
    self.socket = nil
    socket?.cancel()
    calls.loseAll()
  }

  private func lose(_ reason: String, after least: Double?) {
    close()
    let now = Clock.monotonic
    guard let wait = reconnect.failed(now: now, after: least) else {
      return finish(.gaveUp(reason))
    }
    state = .waiting(until: now + wait)
    owner.linkLost(reason, wait: wait)
  }

  private func finish(_ end: StreamEnd) {
    close()
    state = .ended
    owner.linkEnded(end)
  }
}

// MARK: - What the connection tells

extension GatewayLink: SocketHandler {
  func socketOpened(_ place: String, subprotocol: String?) {
    state = .greeting(until: Clock.monotonic + Self.challengeTime)
  }

  func socketMessage(_ message: SocketMessage) {
    guard message.isText else { return owner.linkFaulted("a frame that is not text") }
    let frame: GatewayFrame
    do throws(ScanFault) {
      frame = try GatewayFrame(message.bytes)
    } catch {
      return owner.linkFaulted("a frame that cannot be read: \(error.reason)")
    }
    switch (frame, state) {
    case (.event(let event), .open(let hello)): hear(event, hello)
    case (.event(let event), .greeting): greet(event)
    case (.response(let id, let answer), .greeting) where id == connectID: welcome(hide(answer))
    case (.response(let id, let answer), .open): calls.settle(id, hide(answer))
    default: break
    }
  }

  /// Hides secrets in what the gateway says.
  func hide(_ words: String) -> String { door.mask.hide(words) }
  private func hide(_ answer: GatewayAnswer) -> GatewayAnswer {
    answer.mapError { $0.hiding(door.mask) }
  }

  private func hear(_ event: GatewayEvent, _ hello: GatewayHello) {
    reconnect.succeeded()
    // On protocol 3 one counter serves all clients: holes are usual there.
    if hello.version >= 4, let seq = event.seq {
      if let lastSeq, seq > lastSeq + 1 { owner.linkMissed(from: lastSeq + 1, to: seq - 1) }
      lastSeq = seq
    }
    if event.name == "shutdown" {
      let why = event.object?["reason"]?.string(bytes: 200) ?? "no reason given"
      let wait = event.object?["restartExpectedMs"]?.number.map { min(max($0 / 1000, 0), 60) }
      shutdown = ("the gateway shuts down: \(hide(why))", wait)
    }
    owner.linkHeard(event)
  }

  func socketOversize(bytes: Int) {
    owner.linkFaulted("a frame of \(bytes) bytes or more was dropped")
  }

  func socketEnded(_ end: SocketEnd) {
    socket = nil
    switch end {
    case .refused(let head, let body):
      guard let problem = server.problem(of: head, body) else {
        return finish(.failed(AnswerProblem("\(head.summary): not a WebSocket", .failure)))
      }
      switch StreamVerdict.judge(problem, head, now: Clock.unix) {
      case .failed(let problem): finish(.failed(problem))
      case .retry(let reason, let wait): lose(reason, after: wait)
      case .open, .noContent: finish(.failed(problem))
      }
    case .notSocket(let reason), .redirects(let reason):
      finish(.failed(AnswerProblem(reason, .failure)))
    case .network(let reason), .violated(_, let reason): lose(reason, after: nil)
    case .closed(let code, let reason): closed(code, hide(reason))
    }
  }

  private func closed(_ code: UInt16?, _ reason: String) {
    let number = code.map { " (\($0))" } ?? ""
    let words = "the gateway closed the connection" + (reason.isEmpty ? "" : ": \(reason)") + number
    guard case .greeting = state else {
      return lose(shutdown?.reason ?? words, after: shutdown?.after)
    }
    switch code {
    case 1008: finish(.failed(AnswerProblem(words, .denied)))
    case 1002: finish(.failed(AnswerProblem(words, .failure)))
    default: lose(words, after: nil)
    }
  }
}
