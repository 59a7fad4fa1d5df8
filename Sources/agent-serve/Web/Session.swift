import CLibc
import Core

@Poller
final class Session {
  private enum Phase {
    /// To begin a first request, or another one.
    case first, next
    case head, body
    case answer
    case other
  }

  private enum Next {
    case request
    case stream(any EventSource, EventSink)
    case other(@Poller @Sendable (Socket) async -> Void)
    case end
    case close
  }

  /// A small body that nobody wants is read, for that costs less than another connection.
  private static let politeBody = 1024

  private let service: any RequestService
  private let serving: Serving
  private let socket: Socket
  private var parser = RequestParser()
  private var phase = Phase.first
  /// When the phase is over; an answer has another time for each piece.
  private var deadline = ContinuousClock.now
  private var isFirst = true
  private var isHead = false
  private var ticket: Budget.Share?
  private var patience: Patience { serving.patience }

  /// What waits for long does so from here, and each step that is over keeps nothing.
  static func serve(_ socket: Socket, _ service: any RequestService) async {
    let connections = service.serving.connections
    do {
      switch await begin(socket, service) {
      case .stream(let stream, let sink):
        try await stream.send(to: sink)
        if try await sink.end() { try await socket.linger() }
      case .other(let run): await run(socket)
      case .end: try await socket.linger()
      case .request, .close: break
      }
    } catch {
      note(error, connections)
    }
    socket.close()
    connections.remove(socket)
  }

  @inline(never)
  private static func begin(_ socket: Socket, _ service: any RequestService) async -> Next {
    await Session(service, socket).converse()
  }

  @inline(never)
  private static func note(_ error: any Error, _ connections: Connections) {
    if case Socket.Failure.broken(code: ETIMEDOUT) = error {
      connections.noteCut("its machine was silent for a minute")
    }
  }

  private init(_ service: any RequestService, _ socket: Socket) {
    (self.service, serving, self.socket) = (service, service.serving, socket)
  }

  // MARK: - A request

  @inline(never)
  private func converse() async -> Next {
    do {
      while let head = try await readHead() {
        ticket = serving.requests.share(1)
        // The server stops; what was answered before still arrives.
        if ticket == nil { return .end }
        defer { ticket = nil }
        let next = try await serve(head)
        guard case .request = next else { return next }
      }
    } catch {
      await end(error)
    }
    return .close
  }

  @inline(never)
  private func serve(_ head: RequestHead) async throws -> Next {
    guard let (bytes, next) = try answerNow(head) else { return try await answer(head) }
    if !bytes.isEmpty { try await socket.write(bytes, pause: patience.piece) }
    return next
  }

  @inline(never)
  private func answerNow(_ head: RequestHead) throws -> (bytes: [UInt8], next: Next)? {
    isHead = head.method == "HEAD"
    if let upgrade = try service.upgrade(head) {
      phase = .other
      socket.waitsSince = nil
      return (upgrade.answer, .other(upgrade.run))
    }
    guard head.framing == .length(0), let answer = service.quickAnswer(head) else { return nil }
    switch answer {
    case .whole(let answer):
      _ = try readPart()
      let (bytes, closes) = encode(answer, to: head, isRead: true)
      expect(.answer)
      return (bytes, closes ? .end : .request)
    case .stream(let stream): return ([], follow(stream, head))
    }
  }

  @inline(never)
  private func answer(_ head: RequestHead) async throws -> Next {
    let (answer, isRead) = try await respond(head)
    switch answer {
    case .whole(let answer):
      let (bytes, closes) = encode(answer, to: head, isRead: isRead)
      expect(.answer)
      try await socket.write(bytes, pause: patience.piece)
      return closes ? .end : .request
    case .stream(let stream): return follow(stream, head)
    }
  }

  @inline(never)
  private func follow(_ stream: any EventSource, _ head: RequestHead) -> Next {
    phase = .other
    socket.waitsSince = nil
    return .stream(
      stream,
      EventSink(
        socket, head, serving.connections, backlogLimit: serving.backlogLimit,
        pause: patience.piece))
  }

  @inline(never)
  private func readHead() async throws -> RequestHead? {
    expect(isFirst ? .first : .next)
    (isFirst, isHead) = (false, false)
    socket.trustsShortReads = true
    defer { socket.trustsShortReads = false }
    while true {
      if let head = try nextHead() { return head }
      if try await !socket.fill(until: deadline) {
        if phase == .head { throw Refusal.malformed }
        return nil
      }
    }
  }

  private func nextHead() throws -> RequestHead? {
    while let part = try readPart() {
      if case .head(let head) = part { return head }
    }
    if phase != .head && parser.isWithinRequest { expect(.head) }
    return nil
  }

  private func expect(_ phase: Phase) {
    let now = ContinuousClock.now
    self.phase = phase
    socket.waitsSince = now
    switch phase {
    case .first, .head: deadline = now + patience.head
    case .next: deadline = now + patience.idle
    case .body: deadline = now + patience.body
    case .answer, .other: break
    }
  }

  /// The body of a request. Returns false when the connection cannot go on, since not all of it was
  /// read.
  @inline(never)
  private func readBody(_ head: RequestHead, _ plan: inout BodyPlan) async throws -> (
    RequestBody, Bool
  ) {
    let length = if case .length(let count) = head.framing { count } else { 0 }
    let waits = !head.isOld && head["expect"]?.lowercased() == "100-continue"
    // What will be refused a client that waits for our word need not send.
    if length > (head["expect"] == nil ? RequestBody.patience : plan.limit) {
      return (.tooLarge, false)
    }
    if waits, let refusal = service.refusal(of: head),
      refusal.status != 404
        || length > Self.politeBody
    {
      throw Refusal(refusal)
    }
    // One that has begun to send did not wait.
    if waits && socket.received.isEmpty && head.framing != .length(0) {
      try await socket.write(
        Array((WholeAnswer.statusLine(100) + "\r\n").utf8), pause: patience.piece)
    }
    expect(.body)
    var bytes: [UInt8] = []
    var count = 0
    while true {
      let part = try readPart { data in
        count += data.count
        guard count <= plan.limit else {
          bytes = []
          plan.share = nil
          return
        }
        guard plan.keeps && length <= plan.limit else { return }
        guard plan.share?.take(data.count) ?? true else { throw Refusal(.busy) }
        // By what came, not by what was announced; a large body moves once.
        let kept = bytes.count + data.count
        if kept > bytes.capacity { bytes.reserveCapacity(min(length, 16 * kept)) }
        bytes += data
      }
      switch part {
      case .end: return (count > plan.limit ? .tooLarge : .whole(bytes), true)
      case .data where count > RequestBody.patience: return (.tooLarge, false)
      case .data, .head: continue
      case nil: break
      }
      if try await !socket.fill(until: min(deadline, .now + patience.bodyPause)) {
        throw Refusal.malformed
      }
    }
  }

  /// What the bytes that have come say next; nil when there are too few of them.
  @inline(never)
  private func readPart(
    _ receive: (UnsafeRawBufferPointer) throws -> Void = { _ in }
  ) throws -> RequestParser.Part? {
    try socket.received.read { bytes, used in
      let part = try parser.next(bytes, &used)
      if case .data(let range) = part {
        try receive(UnsafeRawBufferPointer(rebasing: bytes[range]))
      }
      return part
    }
  }

  /// Reads the body of a request, and has it answered elsewhere, by a task of its own: what takes
  /// a while must not hold up others, and what it needs of memory goes with it. Returns false when
  /// the connection cannot go on, since not all of the body was read.
  @inline(never)
  private func respond(_ head: RequestHead) async throws -> (ServedAnswer, Bool) {
    var plan = service.bodyPlan(head)
    var (body, isRead) = (RequestBody.whole([]), true)
    if head.framing != .length(0) { (body, isRead) = try await readBody(head, &plan) }
    socket.waitsSince = nil
    let task = Task(executorPreference: serving.workers) { @concurrent [service, body] in
      await service.respond(to: head, body: body)
    }
    if plan.isHeld { socket.whenLeft = { task.cancel() } }
    let answer = await task.value
    socket.whenLeft = nil
    withExtendedLifetime(plan.share) {}
    return (answer, isRead)
  }

  // MARK: - An answer

  @inline(never)
  private func encode(
    _ answer: WholeAnswer, to head: RequestHead, isRead: Bool
  ) -> (bytes: [UInt8], closes: Bool) {
    var answer = answer
    answer.closes = answer.closes || !isRead || !head.keepsAlive
    return (answer.bytes(isHead: isHead), answer.closes)
  }

  @inline(never)
  private func end(_ error: any Error) async {
    let answer: WholeAnswer?
    switch error {
    case let refusal as Refusal: answer = refusal.answer
    case Socket.Failure.late: answer = overdue()
    default:
      Self.note(error, serving.connections)
      answer = nil
    }
    guard var answer else { return }
    answer.closes = true
    // Nothing behind it is read as a request.
    try? await socket.write(answer.bytes(isHead: isHead), pause: patience.piece)
    try? await socket.linger()
  }

  private func overdue() -> WholeAnswer? {
    switch phase {
    case .first, .next, .other: return nil
    case .head: serving.connections.noteCut("it did not finish a request's head in time")
    case .body: serving.connections.noteCut("it did not finish a request's body in time")
    case .answer:
      serving.connections.noteCut("it took nothing of its answer for too long")
      return nil
    }
    return Refusal.late.answer
  }
}

/// What all services of a server have in common.
struct Serving: Sendable {
  let connections: Connections
  /// Of the requests that are being answered.
  let requests: Budget
  /// What requests may call this server; nil for whatever they like.
  var names: [Authority]?
  /// What requests must show; nil for a server that is open to its machine.
  var token: AccessToken?
  /// Where a subscriber's backlog ends, bytes.
  let backlogLimit: Int
  let diagnostics: Diagnostics
  var patience = Patience()
  var workers: any TaskExecutor = globalConcurrentExecutor
}

protocol RequestService: Sendable {
  var serving: Serving { get }

  /// The other protocol that a request asks for, and gets; nil when it is to be answered.
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch?

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer?

  /// The answer to a request without a body, where no work is needed for it; nil for others.
  func quickAnswer(_ head: RequestHead) -> ServedAnswer?

  func bodyPlan(_ head: RequestHead) -> BodyPlan

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer
}

extension RequestService {
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch? { nil }

  func quickAnswer(_ head: RequestHead) -> ServedAnswer? { refusal(of: head).map { .whole($0) } }
}

struct Patience: Sendable {
  /// To begin its first request, and to send the rest of a head.
  var head = Duration.seconds(10)
  /// To begin another request: longer than a proxy is patient, who would otherwise send one
  /// while we close.
  var idle = Duration.seconds(75)
  /// Within a body, and for all of it.
  var bodyPause = Duration.seconds(10)
  var body = Duration.seconds(60)
  var piece = Duration.seconds(60)
}

enum ServedAnswer: Sendable {
  case whole(WholeAnswer)
  case stream(any EventSource)
}

typealias ProtocolSwitch = (answer: [UInt8], run: @Poller @Sendable (Socket) async -> Void)

extension ServedBackend: RequestService {
  func quickAnswer(_ head: RequestHead) -> ServedAnswer? {
    if let refusal = refusal(of: head) { return .whole(refusal) }
    if let stream = stream(head) { return .stream(stream) }
    let isHealth = head.path == "/api/health" && (head.method == "GET" || head.method == "HEAD")
    return isHealth ? .whole(.healthy) : nil
  }

  private func stream(_ head: RequestHead) -> (any EventSource)? {
    guard head.method == "GET" else { return nil }
    switch head.path {
    case "/api/activity/events": return activity
    case "/api/voice/events": return voice
    default: return nil
    }
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    if case .whole = body, accessRefusal(of: head) == nil, let stream = stream(head) {
      return .stream(stream)
    }
    return .whole(await answer(head, body: body))
  }
}

@Poller
final class Listener {
  nonisolated let port: UInt16
  private let socket: Socket
  private let service: any RequestService

  init(_ address: ListenAddress, _ service: any RequestService) throws(Failure) {
    let (descriptor, port) = try address.listen()
    do throws(Socket.Failure) { socket = try Socket(descriptor) } catch {
      throw Failure(code: systemError)
    }
    (self.port, self.service) = (port, service)
    Poller.start { await self.run() }
  }

  func close() { socket.abort() }

  private func run() async {
    let (connections, diagnostics) = (service.serving.connections, service.serving.diagnostics)
    while true {
      do throws(Socket.Failure) {
        // One at a time, so that whoever comes now waits until a client that is silent has
        // given way.
        while connections.areTooMany {
          diagnostics.errorRarely(
            "accept", "too many open files; the clients that are silent longest give way")
          connections.dropOldest()
          await connections.waitForRoom()
        }
        let client = try await socket.accept()
        connections.add(client)
        Poller.start { await Session.serve(client, self.service) }
      } catch {
        guard case .system(let code) = error else { break }
        // No descriptor is left, or no memory. Nothing tells that there is one again but who
        // closes one.
        diagnostics.errorRarely("accept", systemReason(code))
        connections.dropOldest(atLeast: 1)
        await connections.waitForRoom()
      }
    }
    socket.close()
  }
}
