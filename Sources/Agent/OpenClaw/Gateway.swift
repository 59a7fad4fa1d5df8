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

/// One text frame from a gateway, by what it is (Agent/OpenClaw/CONTRACT.md 1). The slices are
/// valid as long as the frame's bytes are.
enum GatewayFrame {
  case event(GatewayEvent)
  /// The answer to a request; one may get two.
  case response(id: String, GatewayAnswer)
  case other

  private enum Member: Int, ScanName {
    case type, id, event, payload, error, seq, ok
    static let table = NameTable<Member>()
  }

  /// `mask` hides secrets in what a gateway says went wrong.
  init(_ bytes: UnsafeRawBufferPointer, _ mask: SecretMask) throws(ScanFault) {
    var fields = ScanFields<Member>()
    try fields.read(bytes)
    switch fields[.type].string {
    case "event":
      guard fields[.event].isString, let name = fields[.event].string else {
        self = .other
        return
      }
      self = .event(
        GatewayEvent(
          name: name, payload: fields[.payload], seq: Self.number(fields[.seq]), bytes: bytes))
    case "res":
      guard let id = fields[.id].string else {
        self = .other
        return
      }
      let ok = fields[.ok]
      let isFine = ok.string == "true" && ok.isString == false
      self = .response(
        id: id, isFine ? .success(fields[.payload]) : .failure(GatewayError(fields[.error], mask)))
    default: self = .other
    }
  }
}

extension GatewayFrame {
  /// A number among events; nil for what JavaScript could not count up to.
  private static func number(_ value: ScanValue) -> Int64? {
    guard value.isNumber, let number = value.string.flatMap({ Int64($0) }) else { return nil }
    return (0..<1 << 53).contains(number) ? number : nil
  }
}

typealias GatewayAnswer = Result<ScanValue, GatewayError>

struct GatewayEvent {
  let name: String
  let payload: ScanValue
  /// Its number among the broadcasts; nil for what is aimed at this connection.
  let seq: Int64?
  let bytes: UnsafeRawBufferPointer

  var frame: [UInt8] { Array(bytes) }

  var object: JSONValue? {
    guard payload.isObject else { return nil }
    return try? JSONValue.parse(payload.bytes)
  }
}

/// Why a gateway refuses (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayError: Error, Equatable {
  /// The code at the top: `INVALID_REQUEST`, `UNAVAILABLE`, ...
  var code: String
  var message: String
  /// The code of the details, which is the more exact one.
  var detail: String?
  /// `not-paired`, `scope-upgrade`, `startup-sidecars`, ...
  var reason: String?
  var requestID: String?
  var nextStep: String?
  var missingScope: String?
  var expectedProtocol: Int64?
  /// Not before that many seconds.
  var retryAfter: Double?
  var isRetryable = false

  init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  init(_ value: ScanValue, _ mask: SecretMask = SecretMask([])) {
    let error = value.isObject ? try? JSONValue.parse(value.bytes) : nil
    let details = error?["details"]
    func word(_ value: JSONValue?) -> String? { value?.string(bytes: 400).map(mask.hide) }
    code = word(error?["code"]) ?? ""
    message = word(error?["message"]) ?? ""
    detail = word(details?["code"])
    reason = word(details?["reason"])
    requestID = word(details?["requestId"])
    nextStep = word(details?["recommendedNextStep"])
    missingScope = word(details?["missingScope"])
    expectedProtocol = details?["expectedProtocol"]?.integer
    let wait = error?["retryAfterMs"]?.number ?? details?["retryAfterMs"]?.number
    retryAfter = wait.map { min(max($0 / 1000, 0), 3600) }
    isRetryable = error?["retryable"]?.bool == true
  }

  var isPairing: Bool { detail == "PAIRING_REQUIRED" || code == "NOT_PAIRED" }

  /// Whether the gateway is only starting up.
  var isStarting: Bool { code == "UNAVAILABLE" && (retryAfter != nil || isRetryable) }

  /// Whether it is about a member of the request, which an early gateway may not know.
  func names(_ member: String) -> Bool { message.holds(member) }

  /// What it is for whoever asked.
  var failure: Failure {
    if detail == "MISSING_SCOPE" || code == "FORBIDDEN" || message.hasPrefix("missing scope") {
      return Failure(line, .denied)
    }
    let isLater = code == "UNAVAILABLE" || code == "AGENT_TIMEOUT" || isRetryable
    return Failure(line, isLater ? .temporary : .failure)
  }

  /// The reason for people: `pairing required (NOT_PAIRED)`.
  var line: String {
    let code = detail ?? code
    let scope = missingScope.flatMap { message.holds($0) ? nil : $0 }
    let words = [message, scope.map { "\($0) is missing" } ?? ""].filter { !$0.isEmpty }
      .joined(separator: ": ")
    switch (words.isEmpty, code.isEmpty) {
    case (false, false): return "\(words) (\(code))"
    case (false, true): return words
    case (true, false): return code
    case (true, true): return "refused without a reason"
    }
  }
}

/// What a connection may do. Asked for by need (Agent/OpenClaw/CONTRACT.md 4).
enum GatewayScope: String, CaseIterable {
  case read = "operator.read"
  case write = "operator.write"
  case approvals = "operator.approvals"
  case questions = "operator.questions"
  case pairing = "operator.pairing"
  case admin = "operator.admin"
}

/// The greeting of a gateway that lets one in (Agent/OpenClaw/CONTRACT.md 5).
struct GatewayHello {
  /// 3 or 4.
  let version: Int64
  let server: String
  /// Which start of the gateway it is; nil where that is not said.
  let boot: String?
  /// Since its start, seconds; nil where that is not said.
  let uptime: Int?
  /// What was granted; may be fewer than was asked for. Nil when that is not said.
  let scopes: [String]?
  let deviceToken: Secret?
  /// Between two ticks, seconds.
  let tick: Double
  /// The largest frame that it takes, bytes.
  let mostBytes: Int
  /// The largest file that goes with a message, and the largest picture, bytes; nil where
  /// that is not said, as no gateway did before August 2026.
  let mostFile: Int?
  let mostPicture: Int?
  let methods: Set<String>
  let agent: String
  let mainKey: String
  /// The session key of agent and conversation where none is named; nil when not said.
  let mainSessionKey: String?
  /// Whether the main conversations of all agents are one.
  let isGlobal: Bool
  /// How far its clock is ahead of ours, milliseconds; nil when that is not known.
  var ahead: Int64?

  /// Nil when it is not a greeting.
  init?(_ payload: ScanValue) {
    guard payload.isObject, let hello = try? JSONValue.parse(payload.bytes),
      let version = hello["protocol"]?.integer
    else { return nil }
    self.version = version
    server = hello["server"]?["version"]?.string ?? "?"
    boot = hello["server"]?["bootId"]?.string
    uptime = (hello["snapshot"]?["uptimeMs"]?.integer).map { Int(clamping: max($0, 0) / 1000) }
    let auth = hello["auth"]
    scopes = auth?["scopes"]?.elements.compactMap(\.string)
    deviceToken = auth?["deviceToken"]?.string.flatMap {
      $0.isEmpty ? nil : Secret($0, source: "the gateway")
    }
    let policy = hello["policy"]
    tick = min(max((policy?["tickIntervalMs"]?.number ?? 30_000) / 1000, 0.1), 3600)
    mostBytes = Int(min(max(policy?["maxPayload"]?.integer ?? 26_214_400, 65_536), 1 << 40))
    let files = policy?["attachments"]
    mostFile = (files?["maxBytes"]?.integer).map { Int(clamping: max($0, 0)) }
    mostPicture = (files?["maxImageBytes"]?.integer).map { Int(clamping: max($0, 0)) }
    methods = Set(hello["features"]?["methods"]?.elements.compactMap(\.string) ?? [])
    let defaults = hello["snapshot"]?["sessionDefaults"]
    agent = defaults?["defaultAgentId"]?.string ?? "main"
    mainKey = defaults?["mainKey"]?.string ?? "main"
    mainSessionKey = defaults?["mainSessionKey"]?.string
    isGlobal = defaults?["scope"]?.string == "global"
  }

  /// A method that is not announced may still be there where nothing is announced.
  func knows(_ method: String) -> Bool { methods.isEmpty || methods.contains(method) }

  func grants(_ scope: GatewayScope) -> Bool { scopes?.contains(scope.rawValue) != false }

  /// Whether its agents can ask a person: gateways since July 2026 say so.
  var asksQuestions: Bool { methods.contains("question.list") }

  /// The largest file of a gateway that does not say it, bytes.
  private static let usualFile = 5_000_000

  func problem(of files: [ChatQuestion.Attachment]) -> Failure? {
    let most = mostFile ?? Self.usualFile
    return files.lazy.compactMap { $0.problem(most: most, picture: mostPicture ?? most) }.first
  }

  /// The oldest a row may be to be of `time` (both milliseconds since 1970) by its own clock.
  func since(_ time: Int64) -> Int64 {
    guard let ahead, ahead.magnitude < 3_600_000 else { return time - 60_000 }
    return time + min(ahead, 0) - 2000
  }

  /// The key as the gateway writes it in all that it sends; nil for the main conversation.
  func sessionKey(thread: String?, agent: String?) -> String {
    let key = thread.flatMap { GatewayKey($0) }
    if key == nil, agent == nil, let mainSessionKey { return mainSessionKey }
    let owner = GatewayKey.agent(agent ?? self.agent) ?? self.agent
    return (key ?? GatewayKey("main"))?
      .text(agent: owner, mainKey: mainKey, isGlobal: isGlobal) ?? mainKey
  }
}

/// How this suite introduces itself to a gateway (Agent/OpenClaw/CONTRACT.md 4).
struct GatewayHandshake {
  let identity: DeviceIdentity
  let scopes: [GatewayScope]
  let caps: [String]
  let token: Secret?
  let deviceToken: Secret?

  static let protocols = 3...4
  /// Ours in a list that gateways close.
  private static let client = "cli"
  private static let role = "operator"

  static var platform: String {
    #if os(macOS)
      "macos"
    #elseif os(Linux)
      "linux"
    #else
      "unix"
    #endif
  }

  /// Nil when nothing can be signed, for want of memory; `time` is the challenge's, milliseconds.
  func parameters(nonce: String, time: Int64) -> RecordText? {
    // Signed is the first token that is sent.
    let signed = (token ?? deviceToken)?.reveal() ?? ""
    let text = signedText(token: signed, nonce: nonce, time: time)
    guard let signature = identity.signature(of: text) else { return nil }
    let client = RecordText().string("id", Self.client).string("version", suiteVersion)
      .string("platform", Self.platform).string("mode", Self.client)
    let device = RecordText().string("id", identity.id)
      .string("publicKey", Base64.url(identity.publicKey))
      .string("signature", Base64.url(signature)).number("signedAt", time).string("nonce", nonce)
    let auth = RecordText().string("token", signed)
      .string("deviceToken", deviceToken?.reveal())
    return RecordText()
      .number("minProtocol", Self.protocols.lowerBound)
      .number("maxProtocol", Self.protocols.upperBound)
      .object("client", client).string("role", Self.role)
      .strings("scopes", scopes.map(\.rawValue)).strings("caps", caps)
      .object("auth", signed.isEmpty ? nil : auth)
      .string("userAgent", "agentutils/\(suiteVersion)").object("device", device)
  }

  /// What a device signs, in its third form; an empty `token` stands for none, and the last word for
  /// the family of the device.
  func signedText(token: String, nonce: String, time: Int64) -> String {
    let scopes = scopes.map(\.rawValue).joined(separator: ",")
    return [
      "v3", identity.id, Self.client, Self.client, Self.role, scopes, String(time), token, nonce,
      Self.platform, "",
    ].joined(separator: "|")
  }
}
