import CLibc
import Core
import Kinds
import Records
import Web

/// A joelclaw gateway (Agent/Joelclaw/CONTRACT.md).
struct JoelclawBackend: AgentBackend {
  let name = "a joelclaw gateway"
  let has: Set<AgentCapability> = [.follow, .chat, .call]
  var speaks: Set<AgentCapability> { has }
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
      let gateway = JoelclawStream(follow, request)
      return { () throws(LinkEnd) in try gateway.run() }
    }
    stream.judge = { server.problem(of: $0, $1) }
    // Pings tell whether it lives.
    stream.usualSilence = nil
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
  static let mostUnanswered = 2
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

  /// `idle`: the silence after which a connection counts as lost, seconds; nil for never.
  static func ping(_ idle: Double?) -> Double {
    idle.map { min(pingEvery, $0 / 3) } ?? pingEvery
  }

  static var options: SocketOptions {
    var options = SocketOptions()
    options.staysAtOrigin = true
    options.maxMessageBytes = mostBytes
    return options
  }

  static let (statusFrame, abortFrame) = (
    RecordText().string("type", "status").bytes, RecordText().string("type", "abort").bytes
  )

  static func promptFrame(_ text: String) -> [UInt8] {
    RecordText().string("type", "prompt").string("text", text).bytes
  }
}
