import Core
import Records
import Web

/// The events of a gateway as a stream (agentutils-records(5), "event"): the name of the
/// frame's event, its number as the id, its payload as it came. Numbers tell what was lost,
/// they resume nothing: a gateway repeats no event (Agent/OpenClaw/CONTRACT.md 2).
final class GatewayStream: StreamLink {
  private var link: GatewayLink!
  private unowned let handler: any StreamHandler
  private let thread: String?
  /// The session that alone is followed; nil for all.
  private var key: String?
  /// The replies that are under way: of these the text is fetched after a loss.
  private var running = RunBook()
  private var newest: [UInt8] = []

  /// How many rows of a session are fetched after a loss.
  private static let rows = 20

  /// - Parameters:
  ///   - client: drives the connection.
  ///   - keys: the gateway, and what lets one in.
  ///   - thread: what alone is followed; nil for everything.
  ///   - waits: whether to wait until this device is paired.
  ///   - policy: how it is followed.
  ///   - handler: told what happens; not retained.
  init(
    _ client: WebClient, _ keys: GatewayKeys, thread: String?, waits: Bool, policy: StreamPolicy,
    handler: any StreamHandler
  ) {
    self.handler = handler
    self.thread = thread
    link = GatewayLink(
      client, keys,
      wishes: GatewayDoor.Wishes(
        scopes: [.read], caps: ["tool-events"], waitsForPairing: waits),
      policy: policy, owner: self)
  }

  var lastEventID: [UInt8] { newest }
  var isOpen: Bool { link.hello != nil }
  func rewind(to id: [UInt8]) {}
  func tick(now: Double) -> Double { link.tick(now: now) }
  func hold() { link.hold() }
  func release(now: Double) { link.release() }
  func drop(_ reason: String) { link.drop(reason) }
  func stop() { link.stop() }

  // MARK: - What is followed

  private func subscribe(_ hello: GatewayHello, isFirst: Bool) {
    key = thread.map { hello.sessionKey(thread: $0, agent: nil) }
    if hello.knows("sessions.subscribe") { link.call("sessions.subscribe", RecordText()) { _ in } }
    let keys = key.map { [$0] } ?? running.sessions
    for key in keys where hello.knows("sessions.messages.subscribe") {
      link.call("sessions.messages.subscribe", RecordText().string("key", key)) { _ in }
    }
    if !isFirst { fetch() }
  }

  /// Fetches what a loss took of the replies under way: a row of history is whole.
  private func fetch() {
    for key in key.map({ [$0] }) ?? running.sessions {
      let params = RecordText().string("sessionKey", key).number("limit", Self.rows)
      link.call("chat.history", params) { [unowned self] reply in
        guard case .answer(let payload) = reply else { return }
        print("chat.history", payload, id: [])
        if let active = GatewayHistory(reply.object, key: key).active {
          running.keep(active, of: key)
        }
      }
    }
  }

  private func print(_ name: String, _ payload: ScanValue, id: [UInt8]) {
    let bytes = payload.isAbsent ? Array("null".utf8) : Array(payload.bytes)
    HeldEvent(type: Array(name.utf8), id: id, data: bytes).withView {
      handler.streamItem(.event($0))
    }
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

/// The runs whose ends were not seen yet, of which the oldest are forgotten when there are too
/// many.
struct RunBook {
  private static let most = 256

  private var running: [(run: String, session: String)] = []
  /// What ended just now: behind its end a run still tells of itself.
  private var ended: [String] = []

  /// The sessions that they are of, each once.
  var sessions: [String] { Set(running.map(\.session)).sorted() }

  /// Something of a run came.
  mutating func see(_ run: String, of session: String) {
    if ended.contains(run) || running.contains(where: { $0.run == run }) { return }
    running.append((run, session))
    if running.count > Self.most { running.removeFirst() }
  }

  /// A run ended.
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

extension GatewayStream: GatewayLinkOwner {
  func linkOpened(_ hello: GatewayHello, isFirst: Bool, down: Double?) {
    let key = thread.map { hello.sessionKey(thread: $0, agent: nil) } ?? ""
    if let reason = GatewayLists.fault(key: key) {
      handler.streamEnded(.failed(AnswerProblem(reason, .failure)), at: link.place)
      return
    }
    handler.streamOpened(link.place, isFirst: isFirst, down: down)
    subscribe(hello, isFirst: isFirst)
  }

  func linkHeard(_ event: GatewayEvent) {
    newest = event.seq.map { Array(String($0).utf8) } ?? []
    // What keeps a connection alive is no news.
    if event.name == "tick" || !isWanted(event) { return }
    note(event)
    print(event.name, event.payload, id: newest)
  }

  func linkMissed(from: Int64, to: Int64) {
    handler.streamMissed(from...to)
    fetch()
  }

  func linkFaulted(_ reason: String) { handler.streamFaulted(reason) }

  func linkLost(_ reason: String, wait: Double) { handler.streamLost(reason, wait: wait) }

  func linkWaits(_ words: String, wait: Double) { handler.streamLost(words, wait: wait) }

  func linkEnded(_ end: StreamEnd) { handler.streamEnded(end, at: link.place) }
}

extension GatewayEvent {
  /// A member of the payload that is a string.
  func member(_ name: String) -> String? {
    guard payload.isObject, let value = try? ScanMembers.value(of: name, in: payload.bytes),
      value.isString
    else { return nil }
    return value.string
  }
}
