import Core
import Frames
import Records
import Web

/// A connection to an OpenClaw gateway that has let this device in: it notices silence and holes,
/// and matches answers to requests (Agent/OpenClaw/CONTRACT.md 1 to 5).
final class Gateway {
  enum Heard {
    /// Valid until the next call.
    case event(GatewayEvent)
    /// Events were lost in front of the next one.
    case missed(ClosedRange<Int64>)
    /// What was asked under this number is answered, or will not be.
    case reply(Int, GatewayReply)
  }

  /// How long the challenge and the answer to ours may take, seconds.
  private static let (challengeTime, answerTime) = (15.0, 30.0)
  /// The longest wait that a gateway may ask for while it starts, seconds, and how often.
  private static let (startTime, mostStarts) = (5.0, 20)
  /// The largest frame that is taken, bytes.
  private static let mostBytes = 64 << 20

  let hello: GatewayHello
  private let loop: StreamLoop
  private let socket: LiveSocket
  /// The requests that wait for their answers: these come in any order, between events, and what is
  /// answered twice is settled by the first.
  private struct Call {
    let number: Int
    /// The id of the frame that went last.
    var id: String
    let method: String
    let params: RecordText
    let until: Double
    /// When it is sent once more, because the gateway was only starting.
    var again = Double.infinity

    var frame: [UInt8] { Gateway.frame(id, method, params) }
  }
  private var waiting: [Call] = []
  /// The first is that of the greeting.
  private var lastID = 1
  /// How long an answer may take, seconds.
  static let usualTime = 30.0
  /// What is not worth sending.
  private var unsent: [(Int, GatewayReply)] = []
  private let mask: SecretMask
  private var lastSeq: Int64?
  /// The event behind a hole, as it came.
  private var held: [UInt8]?
  private var region = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 1)
  private var shutdown: (reason: String, after: Double?)?

  private init(
    _ loop: StreamLoop, _ socket: LiveSocket, _ hello: GatewayHello, _ mask: SecretMask
  ) {
    (self.loop, self.socket, self.hello, self.mask) = (loop, socket, hello, mask)
  }

  deinit { region.deallocate() }

  // MARK: - The greeting

  /// Connects, and waits until this device is let in.
  ///
  /// - Parameters:
  ///   - loop: follows the gateway.
  ///   - auth: what is shown there.
  ///   - server: the gateway.
  static func connect(
    _ loop: StreamLoop, _ auth: GatewayAuth, _ server: AgentServer
  ) throws(LinkEnd) -> Gateway {
    var starts = 0
    while true {
      var options = SocketOptions()
      // The token is in the first message alone; what answers a later connection may quote it.
      options.staysAtOrigin = true
      options.maxMessageBytes = loop.policy.maxEventBytes ?? mostBytes
      var request = Request(server.base)
      request.trust = server.trust
      request.unquotable = auth.secrets
      let socket: LiveSocket
      do throws(LinkEnd) {
        socket = try LiveSocket.connect(loop, request, options: options)
      } catch {
        if case .violated(let reason) = error { throw .lost(reason) }
        throw error
      }
      socket.leaving = (4000, "tick timeout")
      do throws(LinkEnd) {
        if let gateway = try greet(loop, socket, auth) { return gateway }
      } catch {
        // One that has just been started says itself when it will be ready.
        guard case .lost(_, after: let wait?) = error, wait < startTime, starts < mostStarts else {
          throw error
        }
        starts += 1
        let time = Clock.monotonic + wait
        while Clock.monotonic < time { try loop.wait(until: time) }
      }
    }
  }

  /// Nil when another connection is to be made at once, with less to show.
  private static func greet(
    _ loop: StreamLoop, _ socket: LiveSocket, _ auth: GatewayAuth
  ) throws(LinkEnd) -> Gateway? {
    let id = "1"
    var hasAnswered = false
    var until = Clock.monotonic + challengeTime
    while true {
      let frame = try receive(loop, socket, until: until, auth.mask) { code, words in
        switch code {
        case 1008: .failed(Failure(words, .denied))
        case 1002: .failed(Failure(words, .failure))
        default: .lost(words)
        }
      }
      if Clock.monotonic >= until {
        throw .lost("no \(hasAnswered ? "greeting" : "challenge") came in time")
      }
      switch frame {
      case .event(let event) where !hasAnswered && event.name == "connect.challenge":
        guard let challenge = event.object else { continue }
        guard let params = auth.answer(to: challenge, now: Clock.unix) else {
          throw .failed(Failure("the gateway's challenge has no nonce", .failure))
        }
        (hasAnswered, until) = (true, Clock.monotonic + answerTime)
        socket.send(text: Self.frame(id, "connect", params))
      case .response(id, let answer) where hasAnswered:
        guard let hello = try auth.judge(answer) else { return nil }
        do throws(Failure) { try auth.keep(hello) } catch { loop.fault(error.message, at: nil) }
        return Gateway(loop, socket, hello, auth.mask)
      case .event, .response, .other, nil: continue
      }
    }
  }

  /// The next frame; nil when the time has come, or something else has got on.
  private static func receive(
    _ loop: StreamLoop, _ socket: LiveSocket, idle: Double? = nil, until: Double,
    _ mask: SecretMask, closed: (UInt16?, String) -> LinkEnd
  ) throws(LinkEnd) -> GatewayFrame? {
    let arrival: LiveSocket.Arrival?
    do throws(LinkEnd) { arrival = try socket.receive(idle: idle, until: until) } catch {
      switch error {
      case .violated(let reason): throw .lost(reason)
      case .closed(let code, let reason):
        let number = code.map { " (\($0))" } ?? ""
        let why = mask.hide(reason)
        throw closed(
          code, "the gateway closed the connection" + (why.isEmpty ? "" : ": \(why)") + number)
      default: throw error
      }
    }
    switch arrival {
    case .message(let message) where message.isText:
      do throws(ScanFault) { return try GatewayFrame(message.bytes, mask) } catch {
        loop.fault("a frame that cannot be read: \(error.reason)", at: nil)
      }
    case .message: loop.fault("a frame that is not text", at: nil)
    case .oversize(let bytes):
      loop.fault("a frame of \(bytes) bytes or more was dropped", at: nil)
    case nil: break
    }
    return nil
  }

  // MARK: - What comes

  /// Asks the gateway.
  ///
  /// - Parameters:
  ///   - method: such as `chat.send`.
  ///   - params: an object of no member that the method does not know.
  ///   - time: how long an answer may take, seconds.
  /// - Returns: the number under which `receive` brings the reply, unless the connection goes first.
  @discardableResult
  func ask(
    _ method: String, _ params: RecordText = RecordText(), time: Double = usualTime
  ) -> Int {
    let id = newID()
    let call = Call(
      number: lastID, id: id, method: method, params: params, until: Clock.monotonic + time)
    let frame = call.frame
    if frame.count > hello.mostBytes {
      let words = "\(frame.count) bytes are more than the gateway takes"
      unsent.append((call.number, .refused(GatewayError(code: "", message: words))))
    } else {
      waiting.append(call)
      socket.send(text: frame)
    }
    return call.number
  }

  /// An id that was not used on this link.
  private func newID() -> String {
    lastID += 1
    return String(lastID)
  }

  private static func frame(_ id: String, _ method: String, _ params: RecordText) -> [UInt8] {
    RecordText().string("type", "req").string("id", id).string("method", method)
      .json("params", params.text).bytes
  }

  /// What an answer means for who asked; nil where nobody has, or it is asked again.
  private func settle(_ id: String, _ answer: GatewayAnswer) -> Heard? {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
    switch answer {
    case .failure(let error) where error.isStarting:
      // The same request again, as the gateway asks for, in a frame of its own.
      waiting[index].again = Clock.monotonic + max(error.retryAfter ?? 1, 0.05)
      return nil
    case .failure(let error): return .reply(waiting.remove(at: index).number, .refused(error))
    case .success(let payload): return .reply(waiting.remove(at: index).number, .answer(payload))
    }
  }

  /// Waits for what is heard next.
  ///
  /// - Parameter until: when to return without anything, seconds of `Clock.monotonic`.
  /// - Returns: nil when that time has come, or something else has got on.
  func receive(until: Double = .infinity) throws(LinkEnd) -> Heard? {
    if let bytes = held {
      held = nil
      region.deallocate()
      region = .allocate(byteCount: bytes.count, alignment: 1)
      region.copyBytes(from: bytes)
      if case .event(let event)? = try? GatewayFrame(UnsafeRawBufferPointer(region), mask) {
        return hear(event)
      }
    }
    let now = Clock.monotonic
    if let (number, reply) = unsent.popLast() { return .reply(number, reply) }
    if let index = waiting.firstIndex(where: { $0.until <= now }) {
      return .reply(waiting.remove(at: index).number, .late)
    }
    for index in waiting.indices where waiting[index].again <= now {
      (waiting[index].again, waiting[index].id) = (.infinity, newID())
      socket.send(text: waiting[index].frame)
    }
    let next = waiting.reduce(until) { min($0, $1.until, $1.again) }
    let frame = try Self.receive(
      loop, socket, idle: loop.policy.idleTimeout.map { $0.isFinite ? $0 : hello.tick * 2 },
      until: next, mask
    ) { _, words in .lost(shutdown?.reason ?? words, after: shutdown?.after) }
    switch frame {
    case .event(let event):
      // On protocol 3 one counter serves all clients: holes are usual there.
      if hello.version >= 4, let seq = event.seq, let lastSeq, seq > lastSeq + 1 {
        held = event.frame
        self.lastSeq = seq - 1
        return .missed(lastSeq + 1...seq - 1)
      }
      return hear(event)
    case .response(let id, let answer):
      return settle(id, answer)
    case .other, nil: return nil
    }
  }

  private func hear(_ event: GatewayEvent) -> Heard {
    loop.succeeded()
    if hello.version >= 4 { lastSeq = event.seq ?? lastSeq }
    if event.name == "shutdown" {
      let why = event.object?["reason"]?.string(bytes: 200) ?? "no reason given"
      let wait = event.object?["restartExpectedMs"]?.number.map { min(max($0 / 1000, 0), 60) }
      shutdown = ("the gateway shuts down: \(mask.hide(why))", wait)
    }
    return .event(event)
  }
}

enum GatewayReply {
  /// The payload, valid until the next call of `Gateway.receive`.
  case answer(ScanValue)
  case refused(GatewayError)
  case late

  var object: JSONValue? {
    guard case .answer(let payload) = self, !payload.isAbsent else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}
