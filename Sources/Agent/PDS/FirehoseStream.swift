import Core
import Web

/// The events of one repository, out of the stream that a server has for all: each with the
/// records as they became (Agent/PDS/CONTRACT.md 6).
final class FirehoseStream: StreamLink {
  /// The largest message, bytes.
  private static let largest = 8 << 20
  /// How often a ping asks whether anybody is there, seconds.
  private static let pingEvery = 30.0

  private let client: WebClient
  private let server: PDSServer
  private let repository: DID
  private let collections: [NSID]
  private unowned let handler: any StreamHandler
  private let maxBytes: Int?
  private var socket: SocketStream!
  private var values: FirehoseValues?
  /// The number of the last event, of whatever repository; nil before the first.
  private var last: Int64?
  /// Whether the server has said that it does not keep all that was missed.
  private var isOutdated = false
  /// Why the connection is to end, as soon as it may.
  private var dropReason: String?
  private var isOver = false

  /// - Parameters:
  ///   - client: drives the connection and the requests.
  ///   - server: whose stream.
  ///   - repository: of which the events are wanted.
  ///   - collections: of which changes are wanted; none for all.
  ///   - policy: how it is followed, and behind which event it begins.
  ///   - handler: told what happens; not retained.
  init(
    _ client: WebClient, _ server: PDSServer, _ repository: DID, _ collections: [NSID],
    policy: StreamPolicy, handler: any StreamHandler
  ) {
    self.client = client
    self.server = server
    self.repository = repository
    self.collections = collections
    self.handler = handler
    maxBytes = policy.maxEventBytes
    last = Int64(String(decoding: policy.lastEventID, as: UTF8.self))
    var options = SocketOptions()
    options.maxMessageBytes = Self.largest
    var policy = policy
    policy.maxEventBytes = nil
    socket = SocketStream(
      client, request ?? Request(server.base), options: options, policy: policy,
      pingEvery: Self.pingEvery,
      judge: { head, body in
        let error = XRPCError(head, body, now: Clock.unix)
        return AnswerProblem(error.line, error.exit)
      }, handler: self)
  }

  private var request: Request? {
    try? server.request(
      "com.atproto.sync.subscribeRepos", query: [("cursor", last.map { String($0) })])
  }

  // MARK: - The link

  var lastEventID: [UInt8] { last.map { Array(String($0).utf8) } ?? [] }
  var isOpen: Bool { socket.isOpen }

  func rewind(to id: [UInt8]) { last = Int64(String(decoding: id, as: UTF8.self)) }

  func tick(now: Double) -> Double {
    if let reason = dropReason {
      dropReason = nil
      socket.drop(reason)
    }
    // While nobody listens, the next connection is to begin behind what is known.
    if !socket.isOpen, let request { socket.request = request }
    return min(socket.tick(now: now), values?.tick(now: now) ?? .infinity)
  }

  func hold() { socket.hold() }
  func release(now: Double) { socket.release(now: now) }
  func drop(_ reason: String) { dropReason = reason }

  func stop() {
    isOver = true
    values?.cancel()
    values = nil
    socket.stop()
  }

  // MARK: - What comes

  private func take(_ bytes: UnsafeRawBufferPointer) {
    // The next connection brings what comes now once more.
    if isOver || dropReason != nil { return }
    if let maxBytes, bytes.count > maxBytes {
      return handler.streamItem(.oversize(bytes: bytes.count))
    }
    let frame: FirehoseFrame
    do throws(CBORFault) { frame = try FirehoseFrame(bytes) } catch {
      return handler.streamFaulted("\(server.base.display): an event is dropped: \(error.reason)")
    }
    switch frame {
    case .error(let name, let message): fail(name, message)
    case .event(let name, let body): take(name, body)
    }
  }

  private func fail(_ name: String, _ message: String) {
    let words = [name, message].filter { !$0.isEmpty }.joined(separator: ": ")
    // Not every server closes the connection then.
    guard name == "FutureCursor" else {
      dropReason = words.isEmpty ? "the server ended the stream" : words
      return
    }
    isOver = true
    handler.streamEnded(
      .failed(AnswerProblem("\(words) (event \(last ?? 0))", .failure)), at: server.base.display)
  }

  private func take(_ name: String, _ body: CBORValue) {
    let event = FirehoseEvent(name, body, collections: collections)
    if name == "#info" {
      isOutdated = isOutdated || body["name"]?.text == "OutdatedCursor"
      return print(event)
    }
    guard let number = event.number, number > last ?? .min else { return }
    if isOutdated, let last, last + 1 < number { handler.streamMissed(last + 1...number - 1) }
    isOutdated = false
    guard event.owner == repository.description, event.changes?.isEmpty != true else {
      last = number
      return
    }
    let fetch = FirehoseValues(client, server, repository, event) { [unowned self] in done($0) }
    if fetch.isEmpty { return print(event) }
    values = fetch
    socket.hold()
  }

  private func done(_ result: Result<FirehoseEvent, FirehoseValues.Failure>) {
    values = nil
    switch result {
    case .success(let event):
      print(event)
      if !isOver { socket.release(now: Clock.monotonic) }
    // It comes again, as it was not the last.
    case .failure(let failure): dropReason = failure.reason
    }
  }

  private func print(_ event: FirehoseEvent) {
    last = event.number ?? last
    let id = event.number.map { Array(String($0).utf8) } ?? lastEventID
    HeldEvent(type: Array(event.name.utf8), id: id, data: event.data).withView {
      handler.streamItem(.event($0))
    }
  }
}

extension FirehoseStream: StreamHandler {
  func streamOpened(_ place: String, isFirst: Bool, down: Double?) {
    handler.streamOpened(place, isFirst: isFirst, down: down)
  }

  func streamItem(_ item: StreamItem) {
    switch item {
    case .message(let message) where !message.isText: take(UnsafeRawBufferPointer(message.bytes))
    case .message: handler.streamFaulted("\(server.base.display): a text is no event")
    default: handler.streamItem(item)
    }
  }

  func streamLost(_ reason: String, wait: Double) {
    values?.cancel()
    values = nil
    dropReason = nil
    handler.streamLost(reason, wait: wait)
  }

  func streamEnded(_ end: StreamEnd, at place: String) {
    isOver = true
    handler.streamEnded(end, at: place)
  }
}
