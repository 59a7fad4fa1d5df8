import CLibc
import Core
import Frames
import Kinds
import Records
import Turns
import Web

/// A joelclaw gateway (Agent/Joelclaw/CONTRACT.md).
struct JoelclawBackend: AgentBackend {
  let name = "a joelclaw gateway"
  let has: Set<AgentCapability> = [.follow, .chat, .call]
  let isSocket = true

  var operations: [Operation] { JoelclawOperations.all }

  private static let portFile = "/tmp/joelclaw/gateway.ws.port"

  /// The gateway of this machine; one that is not there yet has the usual port.
  func usualURL() throws(Failure) -> String? {
    try Self.localURL(portFile: Self.portFile)
  }

  func events(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    try wishes.refuseNumber(name)
    try wishes.refuseResume(name)
    if wishes.thread != nil {
      throw Failure(name, "has one conversation: name no thread")
    }
    let server = agent.backend
    let request = try Self.request(server)
    // Nothing is kept of a stream that repeats nothing: a state has no use here.
    var stream = FollowedStream(request.address.socketDisplay) { follow in
      JoelclawStream(follow, request).run
    }
    stream.judge = { server.problem(of: $0, $1) }
    // Pings tell whether it lives, and no silence.
    return stream
  }

  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    // What was said is kept elsewhere, if anywhere.
    if !wishes.isTalk, agent.profile.pds != nil {
      return PDSChat(try PDSAccess(agent), agent.origin(.joelclaw), wishes)
    }
    return try JoelclawChat(agent, wishes)
  }
}

/// The way to a gateway.
extension JoelclawBackend {
  /// How often a ping is sent, seconds, and how many may stay without an answer.
  private static let pingEvery = 30.0
  private static let mostUnanswered = 2
  /// The largest frame that is taken, bytes.
  private static let mostBytes = 64 << 20

  static func localURL(portFile path: String) throws(Failure) -> String {
    let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    guard let bytes = try StateFile(path: path).read(limit: 64) else {
      if let process = try? StateFile(path: folder + "/gateway.pid").read(limit: 64),
        isRunning(process)
      {
        throw Failure(
          folder,
          "a gateway runs there that opens no port: there is a gateway.pid and no "
            + "gateway.ws.port; name a --url to ask another one", .temporary)
      }
      return KindFacts.joelclaw.defaultURL ?? ""
    }
    // A token would go to whoever wrote it.
    for place in [folder, path] {
      guard let status = stat(following: place) else { continue }
      if status.st_uid != 0 && status.st_uid != getuid() {
        throw Failure(place, "refused: it belongs to another user")
      }
      if status.st_mode & 0o022 != 0 {
        throw Failure(place, "refused: others can write to it")
      }
    }
    let digits = bytes.last == 10 ? bytes.dropLast() : bytes[...]
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(String(decoding: digits, as: UTF8.self)), (1...65535).contains(port)
    else { throw Failure(path, "not a port number") }
    return "ws://127.0.0.1:\(port)"
  }

  /// One that was killed leaves its number behind.
  private static func isRunning(_ number: [UInt8]) -> Bool {
    let digits = number.last == 10 ? number.dropLast() : number[...]
    guard let process = pid_t(String(decoding: digits, as: UTF8.self)), process > 0 else {
      return false
    }
    return kill(process, 0) == 0 || systemError == EPERM
  }

  static func request(_ server: AgentServer) throws(Failure) -> Request {
    try server.requirePrivacy()
    var request = Request(server.base)
    server.authorize(&request)
    return request
  }

  /// Waits for what comes; `idle`: the silence after which a connection counts as lost, seconds; nil
  /// for never.
  static func receive(
    _ socket: LiveSocket, idle: Double?, until: Double
  ) throws(LinkEnd) -> LiveSocket.Arrival? {
    try socket.receive(
      idle: idle, pingEvery: min(pingEvery, (idle ?? .infinity) / 3),
      mostUnanswered: mostUnanswered, until: until)
  }

  static var options: SocketOptions {
    var options = SocketOptions()
    options.staysAtOrigin = true
    options.maxMessageBytes = mostBytes
    return options
  }

  static func frame(_ type: String, text: String? = nil) -> [UInt8] {
    RecordText().string("type", type).string("text", text).bytes
  }
}

/// The frames of a gateway as a stream of events (agentutils-records(5), "event"): the type of
/// the frame, no id, the frame as it came. A gateway says by itself neither when a request
/// begins nor when it ends: while the agent is at work its status is asked for, and printed
/// when it tells something new.
final class JoelclawStream {
  private let follow: Follow
  private let request: Request
  private var pace = StatusPace()
  private var told: JoelclawStatus?
  private var isActive = false

  init(_ follow: Follow, _ request: Request) { (self.follow, self.request) = (follow, request) }

  func run() throws(LinkEnd) -> Never {
    let socket = try LiveSocket.connect(
      follow, request, options: JoelclawBackend.options, idle: follow.policy.idleTimeout)
    follow.opened(socket.place)
    (told, isActive) = (nil, false)
    // One comes by itself.
    pace.stop()
    let idle = follow.policy.idleTimeout
    while true {
      if pace.due <= Clock.monotonic {
        pace.asked(Clock.monotonic)
        socket.send(text: JoelclawBackend.frame("status"))
      }
      switch try JoelclawBackend.receive(socket, idle: idle, until: pace.due) {
      case .message(let message) where message.isText: try receive(message.bytes)
      case .message: follow.fault("a frame that is not text")
      case .oversize(let bytes): follow.oversize(bytes: bytes)
      case nil: continue
      }
    }
  }

  private func receive(_ frame: UnsafeRawBufferPointer) throws(LinkEnd) {
    let type: String
    do throws(Failure) { type = try JoelclawEvent.type(frame) } catch {
      return follow.fault("a frame that cannot be read: \(error.reason)")
    }
    let now = Clock.monotonic
    // It is printed as it came, whatever is in it.
    switch (try? JoelclawEvent(frame)) ?? .other {
    case .status(let status):
      isActive = status.active != nil
      if isActive { pace.answered(now) } else { pace.stop() }
      if told == status { return }
      told = status
    case .turnEnd: pace.begin(now)
    case .text, .toolCall, .toolResult, .error: if !isActive { pace.begin(now, after: 0) }
    case .other: break
    }
    try follow.print(HeldEvent(type: Array(type.utf8), data: Array(frame)))
  }
}
