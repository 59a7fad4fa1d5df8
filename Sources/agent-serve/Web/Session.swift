import CLibc
import Core

/// One client's connection, from its first request to its end.
@Poller
final class Session {
  /// What becomes of the connection behind a request.
  private enum Next {
    case request
    /// It ends when the client has all that it was sent.
    case end
    /// It is closed: nothing is under way.
    case close
  }

  /// An answer that stands for the request, and ends the connection.
  private struct Refusal: Error {
    let answer: WholeAnswer
  }

  /// Answers to longer bodies are made elsewhere: what takes a while must not hold up others.
  private static let shortBody = 16 * 1024
  /// A small body that nobody wants is read, for that costs less than another connection.
  private static let politeBody = 1024

  private let service: any RequestService
  private let socket: Socket
  private let patience: Patience
  private var parser = RequestParser()
  private var isFirst = true

  init(_ service: any RequestService, _ socket: Socket) {
    self.service = service
    self.socket = socket
    patience = service.patience
  }

  /// Serves until the client, a fault or the server's end ends the connection, and closes it.
  func run() async {
    do {
      var next = Next.request
      while next == .request { next = try await serveRequest() }
      if next == .end { try await socket.linger() }
    } catch {
      await end(error)
    }
    socket.close()
  }

  // MARK: - A request

  private func serveRequest() async throws -> Next {
    guard let head = try await readHead() else { return .close }
    var ticket = service.tickets.take()
    if ticket == nil { return .close }
    if let upgrade = try service.upgrade(head) {
      ticket = nil
      socket.waitsSince = nil
      try await socket.write(upgrade.answer, pause: patience.piece)
      await upgrade.run(socket)
      return .close
    }
    var plan = service.bodyPlan(head)
    let (body, isRead) = try await readBody(head, &plan)
    socket.waitsSince = nil
    let stream: ServedStream
    if let asked = isRead ? service.stream(head) : nil {
      stream = asked
    } else {
      switch await respond(head, body, plan) {
      case .whole(let answer): return try await send(answer, to: head, isRead: isRead)
      case .stream(let given): stream = given
      }
    }
    ticket = nil
    let sink = EventSink(
      socket, head, service.connections, backlogLimit: service.backlogLimit,
      pause: patience.piece)
    try await stream.run(sink)
    return try await sink.end() ? .end : .close
  }

  /// The next request's head; nil when the client sends no more, or is silent for too long.
  private func readHead() async throws -> RequestHead? {
    var hasBegun = false
    var deadline = ContinuousClock.now + (isFirst ? patience.head : patience.idle)
    socket.waitsSince = .now
    defer { isFirst = false }
    while true {
      switch try readPart() {
      case .head(let head): return head
      case .data, .end: continue
      case nil: break
      }
      if !hasBegun && parser.isWithinRequest {
        hasBegun = true
        deadline = .now + patience.head
        socket.waitsSince = .now
      }
      do throws(Socket.Failure) {
        if try await socket.fill(until: deadline) { continue }
      } catch {
        guard error == .late else { throw error }
        if !hasBegun { return nil }
        service.connections.noteCut("it did not finish a request's head in time")
        throw RequestFault.late
      }
      if hasBegun { throw RequestFault.malformed }
      return nil
    }
  }

  /// The body of a request.
  ///
  /// - Returns: false when the connection cannot go on, since not all of it was read.
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
      throw Refusal(answer: refusal)
    }
    // One that has begun to send did not wait.
    if waits && socket.received.isEmpty && head.framing != .length(0) {
      try await socket.write(
        Array((WholeAnswer.statusLine(100) + "\r\n").utf8), pause: patience.piece)
    }
    let end = ContinuousClock.now + patience.body
    var bytes: [UInt8] = []
    var count = 0
    socket.waitsSince = .now
    while true {
      let part = try readPart { data in
        count += data.count
        guard count <= plan.limit else {
          bytes = []
          plan.share = nil
          return
        }
        guard plan.keeps && length <= plan.limit else { return }
        guard plan.share?.take(data.count) ?? true else { throw Refusal(answer: .busy) }
        bytes += data
      }
      switch part {
      case .end: return (count > plan.limit ? .tooLarge : .whole(bytes), true)
      case .data where count > RequestBody.patience: return (.tooLarge, false)
      case .data, .head: continue
      case nil: break
      }
      do throws(Socket.Failure) {
        if try await socket.fill(until: min(.now + patience.bodyPause, end)) { continue }
      } catch {
        guard error == .late else { throw error }
        service.connections.noteCut("it did not finish a request's body in time")
        throw RequestFault.late
      }
      throw RequestFault.malformed
    }
  }

  /// What the bytes that have come say next; nil when there are too few of them.
  private func readPart(
    _ take: (UnsafeRawBufferPointer) throws -> Void = { _ in }
  ) throws -> RequestParser.Part? {
    try socket.received.read { bytes, used in
      let part = try parser.next(bytes, &used)
      if case .data(let range) = part { try take(UnsafeRawBufferPointer(rebasing: bytes[range])) }
      return part
    }
  }

  private func respond(
    _ head: RequestHead, _ body: RequestBody, _ plan: BodyPlan
  ) async -> ServedAnswer {
    defer { withExtendedLifetime(plan.share) {} }
    if plan.isHeld {
      let task = Poller.start { [service] in await service.respond(to: head, body: body) }
      socket.whenLeft = { task.cancel() }
      defer { socket.whenLeft = nil }
      return await task.value
    }
    if case .whole(let bytes) = body, bytes.count > Self.shortBody {
      return await Poller.elsewhere { [service] in await service.respond(to: head, body: body) }
    }
    return await service.respond(to: head, body: body)
  }

  // MARK: - An answer

  private func send(
    _ answer: WholeAnswer, to head: RequestHead, isRead: Bool
  ) async throws -> Next {
    var answer = answer
    answer.closes = answer.closes || !isRead || !head.keepsAlive
    socket.waitsSince = .now
    try await socket.write(answer.bytes(isHead: head.method == "HEAD"), pause: patience.piece)
    return answer.closes ? .end : .request
  }

  /// Says why the connection ends, where that can be said.
  private func end(_ error: any Error) async {
    let answer: WholeAnswer?
    switch error {
    case let fault as RequestFault: answer = fault.answer
    case let refusal as Refusal: answer = refusal.answer
    case Socket.Failure.late:
      service.connections.noteCut("it took nothing of its answer for too long")
      answer = nil
    case Socket.Failure.broken(SystemError(ETIMEDOUT)):
      service.connections.noteCut("its machine was silent for a minute")
      answer = nil
    default: answer = nil
    }
    guard var answer else { return }
    answer.closes = true
    // Nothing behind it is read as a request.
    try? await socket.write(answer.bytes(isHead: false), pause: patience.piece)
    try? await socket.linger()
  }
}
