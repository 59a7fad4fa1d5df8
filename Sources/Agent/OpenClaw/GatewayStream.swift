import Core
import Records
import Web

/// The events of a gateway as a stream (agentutils-records(5), "event"): the name of the
/// frame's event, its number as the id, its payload as it came. Numbers tell what was lost,
/// they resume nothing: a gateway repeats no event (Agent/OpenClaw/CONTRACT.md 2).
final class GatewayStream {
  private let follow: Follow
  private let server: AgentServer
  private var auth: GatewayAuth
  private let thread: String?
  private var key: String?
  /// The replies that are under way: of these the text is fetched after a loss.
  private var running = RunBook()
  private var hasOpened = false
  /// The sessions whose history was asked for, by the number of the request.
  private var histories: [Int: String] = [:]

  private static let rows = 20

  init(_ follow: Follow, _ keys: GatewayKeys, thread: String?, waits: Bool) {
    (self.follow, server, self.thread) = (follow, keys.server, thread)
    auth = GatewayAuth(
      keys,
      GatewayAuth.Wishes(scopes: [.read], caps: ["tool-events"], waitsForPairing: waits))
  }

  func run() throws(LinkEnd) -> Never {
    let gateway = try Gateway.connect(follow, &auth, server)
    histories = [:]
    key = thread.map { gateway.hello.sessionKey(thread: $0, agent: nil) }
    if let reason = GatewayLists.fault(key: key ?? "") {
      throw .failed(Failure(reason, .failure))
    }
    follow.opened(follow.place)
    subscribe(gateway)
    if hasOpened { fetch(gateway) }
    hasOpened = true
    while true {
      switch try gateway.receive() {
      case .event(let event): try hear(event)
      case .missed(let numbers):
        follow.missed(numbers)
        fetch(gateway)
      case .reply(let number, .answer(let payload)):
        guard let key = histories.removeValue(forKey: number) else { continue }
        try print(history: payload.isAbsent ? Array("null".utf8) : Array(payload.bytes), of: key)
      case .reply, nil: break
      }
    }
  }

  // MARK: - What is followed

  private func subscribe(_ gateway: Gateway) {
    let hello = gateway.hello
    if hello.knows("sessions.subscribe") {
      gateway.ask("sessions.subscribe")
    }
    let keys = key.map { [$0] } ?? running.sessions
    for key in keys where hello.knows("sessions.messages.subscribe") {
      gateway.ask("sessions.messages.subscribe", RecordText().string("key", key))
    }
  }

  private func fetch(_ gateway: Gateway) {
    for key in key.map({ [$0] }) ?? running.sessions {
      let params = RecordText().string("sessionKey", key).number("limit", Self.rows)
      histories[gateway.ask("chat.history", params)] = key
    }
  }

  private func print(history: [UInt8], of key: String) throws(LinkEnd) {
    let object = history.withUnsafeBytes { try? JSONValue.parse($0) }
    if let active = GatewayHistory(object, key: key).active { running.keep(active, of: key) }
    try follow.print(HeldEvent(type: Array("chat.history".utf8), data: history))
  }

  private func hear(_ event: GatewayEvent) throws(LinkEnd) {
    let id = event.seq.map { Array(String($0).utf8) } ?? []
    // What keeps a connection alive is no news.
    if event.name == "tick" || !isWanted(event) { return }
    note(event)
    let payload = event.payload
    try follow.print(
      HeldEvent(
        type: Array(event.name.utf8), id: id,
        data: payload.isAbsent ? Array("null".utf8) : Array(payload.bytes)))
  }

  private func note(_ event: GatewayEvent) {
    // A run may say nothing for long, and only work with its tools.
    guard let run = event.member("runId"), let session = event.member("sessionKey") else { return }
    if event.name == "chat", ["final", "aborted", "error"].contains(event.member("state")) {
      running.end(run)
    } else {
      running.see(run, of: session)
    }
  }

  /// Whether an event is of the session that is followed, or of none.
  private func isWanted(_ event: GatewayEvent) -> Bool {
    guard let key else { return true }
    let session = event.member("sessionKey") ?? event.member("key")
    return session == nil || session == key
  }
}

/// The runs whose ends were not seen yet; the oldest are forgotten when there are too many.
struct RunBook {
  private static let most = 256

  private var running: [(run: String, session: String)] = []
  /// What ended just now: behind its end a run still tells of itself.
  private var ended: [String] = []

  var sessions: [String] { Set(running.map(\.session)).sorted() }

  mutating func see(_ run: String, of session: String) {
    if ended.contains(run) || running.contains(where: { $0.run == run }) { return }
    running.append((run, session))
    if running.count > Self.most { running.removeFirst() }
  }

  mutating func end(_ run: String) {
    running.removeAll { $0.run == run }
    if ended.contains(run) { return }
    ended.append(run)
    if ended.count > Self.most { ended.removeFirst() }
  }

  /// Of a session no others are under way.
  mutating func keep(_ active: [String], of session: String) {
    running.removeAll { $0.session == session && !active.contains($0.run) }
  }
}

extension GatewayEvent {
  func member(_ name: String) -> String? {
    guard payload.isObject, let value = try? ScanMembers.value(of: name, in: payload.bytes),
      value.isString
    else { return nil }
    return value.string
  }
}
